package kernel

import "cmp"

// find queries Recorded for an effect's outcome.
func (r *run) find(e *effect) (found bool, err error) {
	if r.o.Recorded == nil {
		return false, nil
	}
	f, err := r.o.Recorded.Find(EffectQuery{Path: e.path, Class: e.class, Layer: e.layer, Digest: e.digest, Request: e.request, Detail: e.detail})
	if err == nil && f.Interrupted && e.interruptible {
		e.otherwise = f.Otherwise
		r.heldBack = append(r.heldBack, e)
		return true, nil
	}
	if err != nil || !f.UnknownOutcome && f.Result == nil && !f.Withheld {
		return false, err
	}
	if f.Withheld {
		r.withheld = true
		return true, nil
	}
	if f.Result == nil {
		e.inDoubt, e.failure, e.key = true, f.Why, cmp.Or(f.Key, e.key)
		return true, nil
	}
	e.replayed, e.rank = true, f.Result.Seq
	e.out = Outcome{Status: f.Result.Status, Body: f.Result.Body, Encoded: f.Result.Encoded, value: f.Result.Value, stamp: stampOf(f.Result)}
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

// first returns the open effect of the lowest rank, or nil.
func (q *rankedEffects) first() (first *effect) {
	for _, e := range *q {
		if !e.closed && (first == nil || e.rank < first.rank) {
			first = e
		}
	}
	return first
}

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

// replayMessages delivers the recorded messages whose place has come: the effects that
// were requested before them are, and the outcomes that were delivered before them are. If
// the run differs from the recorded one, they arrive before a later outcome.
func (r *run) replayMessages() {
	for first := true; len(r.recordedMessages) > 0; first = false {
		m := &r.recordedMessages[0]
		together := !first && m.Record.Deferred // with the message before it
		if r.interrupting > 0 && !together {
			return
		}
		if next := r.replayQueue.first(); !r.hasPlace(m) && (next == nil || next.rank < m.Record.Seq) {
			return
		}
		r.replayMessage(together)
	}
}

// replayMessagesWith delivers the next recorded messages that were delivered with a record.
func (r *run) replayMessagesWith(belongs func(*RecordedMessage) bool) {
	for len(r.recordedMessages) > 0 && r.recordedMessages[0].Record.Deferred && belongs(&r.recordedMessages[0]) {
		r.replayMessage(true)
	}
}

// replayMessage delivers the next recorded message unless an earlier session did.
func (r *run) replayMessage(deferred bool) {
	rec := r.recordedMessages[0].Record
	r.recordedMessages = r.recordedMessages[1:]
	m := MessageOf(rec)
	if _, stored := r.messages[m.ID]; !stored {
		said := m.record(stampOf(rec))
		said.Deferred = deferred
		r.journalMessage(said)
	}
}

// hasPlace reports whether the run is where it was when a recorded message arrived.
func (r *run) hasPlace(m *RecordedMessage) bool {
	requested := func(path string) bool {
		_, ok := r.paths[path]
		return ok || path == ""
	}
	if !requested(m.Request) || !requested(m.Outcome) {
		return false
	}
	for e := r.open.first; e != nil; e = e.next {
		if e.path == m.Outcome {
			return false
		}
	}
	return true
}
