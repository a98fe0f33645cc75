package kernel

import "cmp"

// find asks Recorded for an effect's outcome.
func (r *run) find(e *effect) (found bool, err error) {
	if r.o.Recorded == nil {
		return false, nil
	}
	f, err := r.o.Recorded.Find(Asked{Path: e.path, Class: e.class, Layer: e.layer, Digest: e.digest, Request: e.request, Detail: e.detail})
	if err != nil || !f.Doubt && f.Result == nil {
		return false, err
	}
	if f.Result == nil {
		e.doubt, e.why, e.key = true, f.Why, cmp.Or(f.Key, e.key)
		return true, nil
	}
	e.given, e.rank = true, f.Result.Seq
	e.out = outcome{status: f.Result.Status, body: f.Result.Body, encoded: f.Result.Encoded, value: f.Result.Value, stamp: stampOf(f.Result)}
	r.supplied.push(e)
	return true, nil
}

// supply delivers, of the effects that Recorded answers, the one that was
// answered first when it was recorded.
func (r *run) supply() bool {
	e := r.supplied.pop()
	if e == nil {
		return false
	}
	r.stats.Replayed++
	r.record(e, e.out)
	return true
}

// ranked is effects by the rank of their answers. They are few at a time.
type ranked []*effect

func (q *ranked) push(e *effect) { *q = append(*q, e) }

// pop is the effect of the lowest rank that is still waited for, or nil.
func (q *ranked) pop() *effect {
	kept, first := (*q)[:0], -1
	for _, e := range *q {
		if e.gone {
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
