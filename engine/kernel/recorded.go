package kernel

import "cmp"

// find queries Recorded for an effect's outcome.
func (r *run) find(e *effect) (found bool, err error) {
	if r.o.Recorded == nil {
		return false, nil
	}
	f, err := r.o.Recorded.Find(EffectQuery{Path: e.path, Class: e.class, Layer: e.layer, Digest: e.digest, Request: e.request, Detail: e.detail})
	if err != nil || !f.UnknownOutcome && f.Result == nil {
		return false, err
	}
	if f.Result == nil {
		e.inDoubt, e.failure, e.key = true, f.Why, cmp.Or(f.Key, e.key)
		return true, nil
	}
	e.replayed, e.rank = true, f.Result.Seq
	e.out = outcome{status: f.Result.Status, body: f.Result.Body, encoded: f.Result.Encoded, value: f.Result.Value, stamp: stampOf(f.Result)}
	r.replayQueue.push(e)
	return true, nil
}

// replayAnswer delivers the recorded outcome that came first in the recording.
func (r *run) replayAnswer() bool {
	e := r.replayQueue.pop()
	if e == nil {
		return false
	}
	r.stats.Replayed++
	r.record(e, e.out)
	return true
}

// rankedEffects is a short queue ordered by rank.
type rankedEffects []*effect

func (q *rankedEffects) push(e *effect) { *q = append(*q, e) }

// pop removes and returns the open effect of the lowest rank, or nil.
func (q *rankedEffects) pop() *effect {
	kept, first := (*q)[:0], -1
	for _, e := range *q {
		if e.closed {
			continue
		}
		kept = append(kept, e)
		if first < 0 || e.rank < kept[first].rank {
			first = len(kept) - 1
		}
	}
	*q = kept
	if first < 0 {
		return nil
	}
	e := kept[first]
	*q = append(kept[:first], kept[first+1:]...)
	return e
}
