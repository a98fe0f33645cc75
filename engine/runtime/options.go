package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/runtime/replay"
)

// Tail follows a run: it re-runs what the journal holds without performing or appending
// anything, and sends all events to the sinks.
type Tail struct {
	// More waits for the records after sequence number seen. Returning none ends the
	// tail. Nil = there are no more.
	More func(seen uint64) ([]journal.Record, error)
	// Rewound is set if the tail ended since it has to start again: see kernel.ErrRewound.
	Rewound bool

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

// Options configure a run; the zero value runs in memory.
type Options struct {
	Journal      journal.Journal            // nil = nothing is stored
	World        kernel.World               // where the run performs its effects and waits; nil = this process
	Virtual      bool                       // virtual time: waits take no time, and new runs write identical journals
	WallClock    func() time.Time           // nil = the system clock, or 1970 in virtual time
	Grace        time.Duration              // how long open effects may continue after ctx ended
	By           engine.Actor               // who makes the decisions of this session; zero = unknown
	Cancel       <-chan struct{}            // closed to cancel the run
	CancelledBy  func() engine.Actor        // who cancelled it; nil = By
	Decided      func(path string)          // called once a decision about the effect at path is durable; may be nil
	Inbox        *Inbox                     // passes messages to the run; nil = it accepts none
	Answers      map[string]json.RawMessage // answers to open questions, by path
	Resolve      map[string]string          // decisions about unknown outcomes, by path: done:<json>, redo, skip
	Extension    *LimitExtension            // new limits for the run; nil = unchanged
	Recorded     *replay.Recording          // answers effects instead of performing them; nil = performs them
	Follow       *Tail                      // follow the journal without running; nil = run
	Version      string                     // of pexctl; the prompts of other versions may differ from the recorded ones
	Conversation bool                       // store every message in the result
	Stream       bool                       // stream model replies to the sinks
	Tracer       Tracer                     // receives the path of the run; nil = none
	Workers      *Workers                   // goroutines shared with other runs; nil = none
}

// Workers keeps goroutines for the calls of many runs, which are cheaper to use again than
// to start. The caller must close it after the runs.
type Workers = kernel.Workers

// LimitExtension raises the limits of a run that stopped at one.
type LimitExtension struct {
	Limits engine.Limits                // all limits, from now on
	Set    []string                     // the changed ones, as the user wrote them
	Spent  map[string]engine.ModelUsage // total usage of the run so far by LLM, including its end at the limit, which the resumed run drops
	Lost   map[string]engine.Charge     // charges for calls without a reply
}

// Begin stores the start of a new run and returns once it is durable: from then on the run
// exists and can be resumed.
func Begin(j journal.Journal, p *engine.Program, in engine.Input, at time.Time) error {
	return kernel.Begin(j, in.RunID, StartOf(p, in), at)
}

// StartOf returns the body of the start record of a run, which ReadStart reads.
func StartOf(p *engine.Program, in engine.Input) []byte {
	return jsonvalue.Encode(engine.Start{Program: p.Source, Digest: p.Digest, Name: p.Name, Version: p.Version, Input: in})
}

// ReadStart returns the start of the run that the records belong to.
func ReadStart(recs []journal.Record) (engine.Start, error) {
	if len(recs) == 0 || recs[0].Kind != journal.Start {
		return engine.Start{}, errors.New("the records have no start")
	}
	s, err := decodeStart(recs[0].Body)
	s.At = time.Unix(0, recs[0].WallTime).UTC()
	return s, err
}

func decodeStart(body []byte) (engine.Start, error) {
	var s engine.Start
	if err := jsonvalue.Unmarshal(body, &s); err != nil {
		return s, fmt.Errorf("start record: %w", err)
	}
	jsonvalue.Normalize(s.Input.Parameters)
	return s, nil
}
