package worstcase

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
)

// tally is what parts of a run come to.
type tally struct {
	parts   []Part
	total   Totals
	limited Totals // the same, with the limits of agents within
	firsts  Count  // attempts that repeat no other
	again   Count  // attempts that the policies of llms let them repeat
	repeat  Totals // one such attempt, of the dearest
	llms    []*engine.ModelSpec
}

func (t *tally) add(o tally) {
	t.total, t.limited = t.total.plus(o.total), t.limited.plus(o.limited)
	t.firsts, t.again = t.firsts.plus(o.firsts), t.again.plus(o.again)
	t.join(o)
}

// either is for what happens instead: the higher figures count.
func (t *tally) either(o tally) {
	t.total, t.limited = t.total.or(o.total), t.limited.or(o.limited)
	t.firsts, t.again = t.firsts.or(o.firsts), t.again.or(o.again)
	t.join(o)
}

func (t *tally) join(o tally) {
	t.repeat = t.repeat.or(o.repeat)
	t.parts = append(t.parts, o.parts...)
	t.llms = append(t.llms, o.llms...)
}

// scaled is a tally so many times, in a node.
func (t tally) scaled(node string, n Count, times []engine.Factor) tally {
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

// repeats is the attempts that the run may make again, each of the dearest kind.
func (t *tally) repeats() Part {
	n := t.again
	p := Part{Role: repeats}
	if !t.firsts.Known() {
		p.Why = t.firsts.Unbounded
	} else if budget := engine.MaxRepeats(t.firsts.Most); n.Exceeds(budget) {
		n = most(budget)
		p.Why = fmt.Sprintf("%d plus a tenth of %d calls", engine.MaxRepeats(0), t.firsts.Most)
	} else {
		p.Why = "retry.max_attempts"
	}
	p.Totals = t.repeat.times(n)
	p.Extra = n
	return p
}

// within is the tally under the limits of its run on tokens and cost.
func (t *tally) within(l engine.Limits) Totals {
	out := t.limited
	out.Input, out.Output, out.Tokens = out.Input.within(l.MaxTokens), out.Output.within(l.MaxTokens), out.Tokens.within(l.MaxTokens)
	dearest := 0.0
	for _, m := range t.llms {
		if m.Cost == nil {
			return out // no limit on cost counts what has no price
		}
		in, each := m.Cost.Dearest(l.MaxTokens)
		dearest = max(dearest, in, each)
	}
	if l.MaxTokens > 0 && t.priced() {
		out.Cost = out.Cost.cut(float64(l.MaxTokens) * dearest / 1e6)
	}
	out.Cost = out.Cost.within(l.MaxCost)
	return out
}

// priced says that it is known which llms are asked.
func (t *tally) priced() bool {
	return !slices.ContainsFunc(t.parts, func(p Part) bool { return p.LLM == "" && p.Role != repeats })
}

// counted is how often something is asked.
func counted(a engine.Ask) Count {
	n := most(1)
	for _, f := range a.Times {
		n = n.times(most(f.N))
	}
	if a.Endless != "" && n.Most > 0 {
		return never[int](a.Endless)
	}
	return n
}

// factor is a factor of the run's own spec, or of an agent within it.
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

// inWords is how a number comes about.
func inWords(times []factor) string {
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
