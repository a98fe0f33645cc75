package runtime

import (
	"encoding/json"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime/replay"
)

// Tail looks on at a run: what its journal holds is run again, nothing is
// performed or appended, and sinks hear all of it.
type Tail struct {
	// LimitExtension waits for records behind those that were seen; none ends the look.
	// Nil = there are no more.
	More func(seen uint64) ([]journal.Record, error)
	seen uint64
}

func (f *Tail) next() ([]journal.Record, error) {
	if f.More == nil {
		return nil, nil
	}
	recs, err := f.More(f.seen)
	if len(recs) > 0 {
		f.seen = recs[len(recs)-1].Seq
	}
	return recs, err
}

// Options are how a run runs; the zero value runs in memory.
type Options struct {
	Journal      journal.Journal            // nil = nothing is kept
	Virtual      bool                       // virtual time: waits cost nothing, fresh runs give the same journal
	Wall         func() time.Time           // nil = the machine's, 1970 in virtual time
	Grace        time.Duration              // how long open effects may go on after ctx ended
	By           engine.Actor               // who makes the decisions of this session; zero = the journal does not say
	Cancel       <-chan struct{}            // closed by a decision to cancel
	CancelledBy  func() engine.Actor        // who made it; nil = By
	Answers      map[string]json.RawMessage // to open questions, by path
	Resolve      map[string]string          // writes in doubt, by path: done:<json>, redo, skip
	More         *LimitExtension            // what the run is given more of; nil = nothing
	Recorded     *replay.Recording          // answers effects; nil = the world does
	Follow       *Tail                      // only look on at what the journal holds; nil = run
	Version      string                     // of the program; prompts of another one may differ from the recorded ones
	Conversation bool                       // keep every message for the result
	Stream       bool                       // ask models to stream, for the sinks
	Tracer       Tracer                     // hears which ways the run takes; nil = nobody
}
