package runtime

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
)

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
