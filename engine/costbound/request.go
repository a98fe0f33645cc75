package costbound

import (
	"fmt"
	"strconv"

	"github.com/pexctl/pex/engine"
)

// request is the worst case of one call of a model.
type request struct {
	answer Totals // of the most expensive LLM that may answer
	lost   Totals // of the other fallback LLMs, whose answers may have been lost
	firsts int    // LLMs that may be called
	again  int    // retries allowed by their policies
	repeat Totals // one retry, of the most expensive LLM
	llms   []*engine.ModelSpec
}

// request returns the worst case of a call of an LLM with its fallbacks.
func (r *run) request(a engine.CallBound) request {
	var q request
	for _, name := range r.chain(a) {
		spec := r.model(name)
		if spec == nil {
			q.answer, q.llms = unknown("undefined LLM "+name), nil
			return q
		}
		one := r.attempt(spec, a.Tokens)
		q.lost = q.lost.plus(one)
		q.answer = q.answer.or(one)
		q.firsts++
		if n := spec.Retry.MaxAttempts - 1; n > 0 {
			q.again += n
			q.repeat = q.repeat.or(one)
		}
		q.llms = append(q.llms, spec)
	}
	q.lost = q.lost.less(q.answer, q.firsts > 1)
	q.answer.Calls, q.lost.Extra, q.repeat.Extra = most(1), most(q.firsts-1), Count{}
	return q
}

// chain returns the LLMs that a call may use, in order. A tool's samples have no
// fallbacks.
func (r *run) chain(a engine.CallBound) []string {
	names := []string{a.LLM}
	if spec := r.model(a.LLM); spec != nil && a.Tokens == 0 {
		names = append(names, spec.Fallback...)
	}
	return names
}

func (r *run) model(name string) *engine.ModelSpec {
	for i := range r.program.Models {
		if r.program.Models[i].Name == name {
			return &r.program.Models[i]
		}
	}
	return nil
}

// attempt returns the worst case of one request of an LLM; tokens is the known maximum of
// a tool's sample, or 0.
func (r *run) attempt(m *engine.ModelSpec, tokens int) Totals {
	t := Totals{Input: r.input(m), Output: r.output(m)}
	t.Tokens = t.Input.plus(t.Output)
	if tokens > 0 {
		t.Input, t.Output, t.Tokens = most(tokens), most(tokens), most(tokens)
	}
	if m.Cost == nil {
		t.Cost = unbounded[float64]("LLM " + strconv.Quote(m.Name) + " has no price")
		return t
	}
	longest := t.Input.Most
	if !t.Input.Known() {
		longest = maxCount
	}
	in, out := m.Cost.HighestPrices(longest)
	if t.Cost = usd(t.Input, in).plus(usd(t.Output, out)); tokens > 0 {
		t.Cost = usd(t.Tokens, max(in, out))
	}
	return t
}

// usd returns the cost of tokens at a price per million.
func usd(tokens Count, price float64) Money {
	switch {
	case price == 0:
		return Money{}
	case !tokens.Known():
		return unbounded[float64](tokens.Unbounded)
	}
	return most(float64(tokens.Most) * price / 1e6)
}

func (r *run) input(m *engine.ModelSpec) Count {
	if r.options.Context > 0 {
		return most(r.options.Context)
	}
	return unbounded[int](fmt.Sprintf("requests to LLM %q have no size limit", m.Name))
}

func (r *run) output(m *engine.ModelSpec) Count {
	switch {
	case m.Params.MaxOutputTokens > 0:
		return most(m.Params.MaxOutputTokens)
	case r.budgeted:
		return most(m.Cost.OutputCeiling())
	}
	return unbounded[int](fmt.Sprintf("LLM %q has no max_output_tokens, and neither limits.max_tokens nor limits.max_cost is set", m.Name))
}

// less subtracts the highest part of a sum; an unbounded sum stays unbounded while there
// are others.
func (t Totals) less(o Totals, others bool) Totals {
	if !others {
		return Totals{}
	}
	t.Input.Most -= o.Input.Most
	t.Output.Most -= o.Output.Most
	t.Tokens.Most -= o.Tokens.Most
	t.Cost.Most -= o.Cost.Most
	return t
}
