package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
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

// LimitExtension is what a run that stopped at a limit is given to go on with.
type LimitExtension struct {
	Limits engine.Limits                // all of them, as they are from now on
	Set    []string                     // what of them was set, as it was written
	Spent  map[string]engine.ModelUsage // what the run used in all so far, by llm: what its end at the limit took counts on
	Lost   map[string]engine.Charge     // and what it paid for calls that gave no answer
}

// changeBody is the body of a change record.
type changeBody struct {
	Limits engine.Limits                `json:"limits"`
	Set    []string                     `json:"set,omitempty"`
	Spent  map[string]engine.ModelUsage `json:"spent,omitempty"` // by what is void from here on
	Lost   engine.Charge                `json:"lost,omitzero"`   // likewise
}

// Exceeded implements Scope.
func (s *scope) Exceeded(over func(engine.Limits) bool) bool {
	for over(s.r.program.Limits) {
		if s.r.parent != nil || !s.k.Reconsider() {
			return true
		}
	}
	return false
}

// change is the body of the change record that this session brings.
func (r *run) change() []byte {
	c := changeBody{Limits: r.opts.More.Limits, Set: r.opts.More.Set, Spent: map[string]engine.ModelUsage{}, Lost: charges(r.opts.More.Lost).beyond(r.charges)}
	for name, all := range r.opts.More.Spent {
		if rest := all.Minus(r.spent[name]); rest != (engine.ModelUsage{}) {
			c.Spent[name] = rest
		}
	}
	return jsonvalue.Encode(c)
}

// changed takes over a change record, live and re-run.
func (r *run) changed(body []byte) {
	var c changeBody
	if err := json.Unmarshal(body, &c); err != nil {
		panic(fmt.Sprintf("change record: %v", err)) // the chain says that we wrote it
	}
	p := *r.program
	p.Limits = c.Limits
	r.program = &p
	r.consumed.limit(c.Limits)
	r.consumed.tokens += c.Lost.Tokens
	r.consumed.cost += c.Lost.CostUSD
	for _, name := range slices.Sorted(maps.Keys(c.Spent)) { // sums of dollars depend on their order
		u := c.Spent[name]
		r.state.Usage.ModelCalls += u.ModelCalls
		r.state.Usage.Tokens = r.state.Usage.Tokens.Plus(u.Tokens)
		r.state.Usage.CostUSD += u.CostUSD
		r.consumed.tokens += u.Total()
		r.consumed.cost += u.CostUSD
		r.spent = maps.Clone(r.spent)
		r.spent[name] = r.spent[name].Plus(u)
	}
}

func startOf(p *engine.Program, in engine.Input) []byte {
	return jsonvalue.Encode(engine.Start{Program: p.Source, Digest: p.Digest, Name: p.Name, Version: p.Version, Input: in})
}

// ReadStart is the start of the run that records belong to.
func ReadStart(recs []journal.Record) (engine.Start, error) {
	if len(recs) == 0 || recs[0].Kind != journal.Start {
		return engine.Start{}, errors.New("the records have no start")
	}
	s, err := decodeStart(recs[0].Body)
	s.At = time.Unix(0, recs[0].Wall).UTC()
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

// LimitsNow is the limits that a run of p stands under, with what whoever
// resumed it has set so far.
func LimitsNow(p *engine.Program, recs []journal.Record) engine.Limits {
	limits := p.Limits
	for _, rec := range journal.Standing(recs) {
		var c changeBody
		if rec.Kind == journal.Change && json.Unmarshal(rec.Body, &c) == nil {
			limits = c.Limits
		}
	}
	return limits
}

// Raises is the limits that whoever resumed a run has set so far, as they
// were written, in order.
func Raises(recs []journal.Record) []string {
	var out []string
	for _, rec := range journal.Standing(recs) {
		var c changeBody
		if rec.Kind == journal.Change && json.Unmarshal(rec.Body, &c) == nil {
			out = append(out, c.Set...)
		}
	}
	return out
}
