package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// More is what a run that stopped at a limit is given to go on with.
type More struct {
	Limits Limits                // all of them, as they are from now on
	Set    []string              // what of them was set, as it was written
	Spent  map[string]ModelUsage // what the run used in all so far, by llm: what its end at the limit took counts on
	Lost   map[string]Charge     // and what it paid for calls that gave no answer
}

// changeBody is the body of a change record.
type changeBody struct {
	Limits Limits                `json:"limits"`
	Set    []string              `json:"set,omitempty"`
	Spent  map[string]ModelUsage `json:"spent,omitempty"` // by what is void from here on
	Lost   Charge                `json:"lost,omitzero"`   // likewise
}

// Exceeded implements Scope.
func (s *scope) Exceeded(over func(Limits) bool) bool {
	for over(s.r.program.Limits) {
		if s.r.parent != nil || !s.k.Reconsider() {
			return true
		}
	}
	return false
}

// Extendable says whether a stop is one that more of a limit undoes.
func (r StopReason) Extendable() bool {
	switch r.Code {
	case StopMaxSteps, StopMaxReplans, StopBudgetTokens, StopBudgetCost, StopMaxToolCalls, StopDeadline:
		return true
	default:
		return false
	}
}

// Wider says whether limits leave more room than others at a stop.
func (to Limits) Wider(from Limits, at StopCode) bool {
	switch at {
	case StopMaxSteps:
		return to.MaxSteps > from.MaxSteps
	case StopMaxReplans:
		return to.MaxReplans > from.MaxReplans
	case StopBudgetTokens:
		return wider(from.MaxTokens, to.MaxTokens)
	case StopBudgetCost:
		return wider(from.MaxCost, to.MaxCost)
	case StopMaxToolCalls:
		return wider(from.MaxToolCalls, to.MaxToolCalls)
	case StopDeadline:
		return wider(from.MaxDuration, to.MaxDuration)
	default:
		return false
	}
}

// wider compares limits of which 0 is none.
func wider[T int | float64 | time.Duration](from, to T) bool {
	return to == 0 || from != 0 && to > from
}

// change is the body of the change record that this session brings.
func (r *run) change() []byte {
	c := changeBody{Limits: r.opts.More.Limits, Set: r.opts.More.Set, Spent: map[string]ModelUsage{}, Lost: charges(r.opts.More.Lost).beyond(r.charges)}
	for name, all := range r.opts.More.Spent {
		if rest := all.minus(r.spent[name]); rest != (ModelUsage{}) {
			c.Spent[name] = rest
		}
	}
	return encoded(c)
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
		r.spent[name] = r.spent[name].plus(u)
	}
}

func (u ModelUsage) plus(o ModelUsage) ModelUsage {
	return ModelUsage{u.ModelCalls + o.ModelCalls, u.Tokens.Plus(o.Tokens), u.CostUSD + o.CostUSD}
}

func (u ModelUsage) minus(o ModelUsage) ModelUsage {
	t := Tokens{u.Input - o.Input, u.Output - o.Output, u.Cached - o.Cached, u.CacheWrite - o.CacheWrite, u.Reasoning - o.Reasoning}
	return ModelUsage{u.ModelCalls - o.ModelCalls, t, u.CostUSD - o.CostUSD}
}
