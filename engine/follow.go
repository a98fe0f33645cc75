package engine

import (
	"github.com/pexctl/pex/engine/journal"
)

// Follow looks on at a run: what its journal holds is run again, nothing is
// performed or appended, and sinks hear all of it.
type Follow struct {
	// More waits for records behind those that were seen; none ends the look.
	// Nil = there are no more.
	More func(seen uint64) ([]journal.Record, error)
	seen uint64
}

func (f *Follow) next() ([]journal.Record, error) {
	if f.More == nil {
		return nil, nil
	}
	recs, err := f.More(f.seen)
	if len(recs) > 0 {
		f.seen = recs[len(recs)-1].Seq
	}
	return recs, err
}
