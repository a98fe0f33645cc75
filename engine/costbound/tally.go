package costbound

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
)

// tally is the sum of parts of a run.
type tally struct {
	parts   []Part
	total   Totals
	limited Totals // with the limits of nested agents
	firsts  Count  // first attempts
	again   Count  // retries allowed by the policies of LLMs
	repeat  Totals // one retry, of the most expensive LLM
	llms    []*engine.ModelSpec
}

func (t *tally) add(o tally) {
	t.total, t.limited = t.total.plus(o.total), t.limited.plus(o.limited)
	t.firsts, t.again = t.firsts.plus(o.firsts), t.again.plus(o.again)
	t.join(o)
}

// max adds an alternative: the higher quantities count.
func (t *tally) max(o tally) {
	t.total, t.limited = t.total.or(o.total), t.limited.or(o.limited)
	t.firsts, t.again = t.firsts.or(o.firsts), t.again.or(o.again)
	t.join(o)
}

func (t *tally) join(o tally) {
	t.repeat = t.repeat.or(o.repeat)
	t.parts = append(t.parts, o.parts...)
	t.llms = append(t.llms, o.llms...)
}

// times multiplies a tally, in a node.
func (t tally) times(node string, n Count, times []engine.Factor) tally {
	t.total, t.limited = t.total.times(n), t.limited.times(n)
	t.firsts, t.again = t.firsts.times(n), t.again.times(n)
	for i := range t.parts {
		p := &t.parts[i]
		p.Totals = p.times(n)
		p.factors = slices.Concat(own(times), p.factors)
		if p.Agent == "" {
			p.Node = node
		}
		if !n.Known() {
			p.Why = n.Unbounded
		}
	}
	return t
}

// repeats returns the Part of the run's retries, each of the most expensive kind.
func (t *tally) repeats() Part {
	n := t.again
	p := Part{Role: repeats}
	if !t.firsts.Known() {
		p.Why = t.firsts.Unbounded
	} else if budget := engine.MaxRepeats(t.firsts.Most); n.Exceeds(budget) {
		n = most(budget)
		p.Why = fmt.Sprintf("%d + 10%% of %d calls", engine.MaxRepeats(0), t.firsts.Most)
	} else {
		p.Why = "retry.max_attempts"
	}
	p.Totals = t.repeat.times(n)
	p.Extra = n
	return p
}

// within returns the total under the run's limits on tokens and cost.
func (t *tally) within(l engine.Limits) Totals {
	out := t.limited
	out.Input, out.Output, out.Tokens = out.Input.within(l.MaxTokens), out.Output.within(l.MaxTokens), out.Tokens.within(l.MaxTokens)
	dearest := 0.0
	for _, m := range t.llms {
		if m.Cost == nil {
			return out // a limit on cost ignores calls without a price
		}
		in, each := m.Cost.HighestPrices(l.MaxTokens)
		dearest = max(dearest, in, each)
	}
	if l.MaxTokens > 0 && t.priced() {
		out.Cost = out.Cost.capAt(float64(l.MaxTokens) * dearest / 1e6)
	}
	out.Cost = out.Cost.within(l.MaxCost)
	return out
}

// priced reports whether all LLMs are known.
func (t *tally) priced() bool {
	return !slices.ContainsFunc(t.parts, func(p Part) bool { return p.LLM == "" && p.Role != repeats })
}

// timesOf returns the number of calls of a bound.
func timesOf(a engine.CallBound) Count {
	n := most(1)
	for _, f := range a.Times {
		n = n.times(most(f.N))
	}
	if a.Unbounded != "" && n.Most > 0 {
		return unbounded[int](a.Unbounded)
	}
	return n
}

// factor is a factor of the run's own spec, or of a nested agent.
type factor struct {
	engine.Factor
	agent string
}

func own(times []engine.Factor) []factor {
	out := make([]factor, len(times))
	for i, f := range times {
		out[i].Factor = f
	}
	return out
}

// factorText describes how a number is derived.
func factorText(times []factor) string {
	var out []string
	for _, f := range times {
		text := f.Text
		if f.agent != "" {
			text += " of " + f.agent
		}
		if f.N != 1 && f.Text != "" {
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return "once"
	}
	return strings.Join(out, " x ")
}
