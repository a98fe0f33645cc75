package costbound

import (
	"strconv"

	"github.com/pexctl/pex/engine"
)

// Options are the options of Bound.
type Options struct {
	// Context is the maximum number of tokens of a request of any LLM: its context
	// window. 0 = unknown.
	Context int
}

// Estimate is the worst case of a run of a Program.
type Estimate struct {
	Agent   string  `json:"agent"`             // the Program's name
	Limited Totals  `json:"limited"`           // within limits.max_tokens and limits.max_cost
	Total   Totals  `json:"total"`             // without these limits
	Parts   []Part  `json:"parts"`             // what the total consists of
	Levers  []Lever `json:"levers"`            // the spec lines that cause it, largest first
	Context int     `json:"context,omitempty"` // Options.Context
}

// Part is the worst case of one role of one node in a run.
type Part struct {
	Agent string `json:"agent,omitempty"` // nested agent, "outer/inner"; "" = the run's own
	Node  string `json:"node,omitempty"`  // "" = retries
	Tool  string `json:"tool,omitempty"`  // tool that makes the calls or runs the agent
	Role  string `json:"role"`
	LLM   string `json:"llm,omitempty"`
	Why   string `json:"why,omitempty"` // how the number of calls is derived
	Totals

	factors []factor
	vectors bool
}

// repeats is the role of the Part of retries.
const repeats = "repeats"

// Vectors reports whether the Part consists of embeddings, which are not calls and not
// limited by a context window.
func (p *Part) Vectors() bool { return p.vectors }

// Bound returns the worst case of one run. The Program must have a graph.
func Bound(p *engine.Program, o Options) Estimate {
	r := &run{program: p, options: o, budgeted: capped(p.Limits), toolCalls: p.Limits.MaxToolCalls}
	t := r.all()
	if again := t.repeats(); again.Extra != (Count{}) {
		t.add(tally{parts: []Part{again}, total: again.Totals, limited: again.Totals})
	}
	e := Estimate{
		Agent: p.Name, Total: t.total, Limited: t.within(p.Limits), Parts: t.parts, Context: o.Context,
	}
	for i := range e.Parts {
		if e.Parts[i].Why == "" {
			e.Parts[i].Why = factorText(e.Parts[i].factors)
		}
	}
	e.Levers = levers(e.Parts)
	return e
}

func capped(l engine.Limits) bool { return l.MaxTokens > 0 || l.MaxCost > 0 }

// run is one run of one Program, possibly nested.
type run struct {
	program   *engine.Program
	options   Options
	budgeted  bool // by its own limits or those of an enclosing run
	toolCalls int  // limit including those of enclosing runs; 0 = none
}

// all sums the worst cases of a run's nodes.
func (r *run) all() tally {
	var t tally
	w := r.walk()
	for _, n := range r.program.Graph.Nodes {
		node, ok := r.program.Nodes[n.ID].(engine.Bounded)
		if !ok {
			why := unknown("the calls of node " + n.ID + " are not known")
			t.add(tally{parts: []Part{{Node: n.ID, Role: n.Type, Totals: why}}, total: why, limited: why})
			continue
		}
		worst := node.WorstCase(r.program)
		t.add(r.bounds(n.ID, worst.Visit, w.visits(n.ID)))
		t.add(r.bounds(n.ID, worst.Step, w.started(n.ID)))
	}
	t.add(r.finalAnswer())
	return t
}

// walk collects the worst cases of the graph's nodes.
func (r *run) walk() *walk {
	w := &walk{r.program, map[string]engine.WorstCase{}}
	for _, n := range r.program.Graph.Nodes {
		if node, ok := r.program.Nodes[n.ID].(engine.Bounded); ok {
			w.worst[n.ID] = node.WorstCase(r.program)
		}
	}
	return w
}

// finalAnswer returns the worst case of the answer of a run that ends early: one visit
// beyond those of the walk, since a budget may end a run anywhere.
func (r *run) finalAnswer() tally {
	id, n := engine.NodeWith[engine.Finalizer](r.program)
	if n == nil {
		return tally{}
	}
	node, ok := n.(engine.Bounded)
	if !ok {
		why := unknown("the calls of the finalizer are not known")
		return tally{parts: []Part{{Node: id, Role: "closing", Totals: why}}, total: why, limited: why}
	}
	return r.bounds(id, node.WorstCase(r.program).Visit, engine.Factor{N: 1})
}

// bounds returns the worst case of all call bounds of a node, times a factor.
func (r *run) bounds(node string, all []engine.CallBound, times engine.Factor) tally {
	var t tally
	for _, a := range all {
		a.Times = append([]engine.Factor{times}, a.Times...)
		t.add(r.bound(node, a))
	}
	return t
}

// bound returns the worst case of one call bound.
func (r *run) bound(node string, a engine.CallBound) tally {
	switch {
	case len(a.Tools) > 0:
		return r.tools(node, a)
	case a.Agent != nil:
		return r.agent(node, a)
	case a.Vectors:
		return r.vectors(node, a)
	case a.LLM != "":
		return r.call(node, a)
	}
	return tally{}
}

// call returns the worst case of calls of a model.
func (r *run) call(node string, a engine.CallBound) tally {
	q, n := r.request(a), timesOf(a)
	p := Part{Node: node, Role: a.Role, LLM: a.LLM, Totals: q.answer.plus(q.lost).times(n), factors: own(a.Times)}
	if !n.Known() {
		p.Why = n.Unbounded
	}
	return tally{
		parts: []Part{p}, total: p.Totals, limited: p.Totals, firsts: most(q.firsts).times(n),
		again: most(q.again).times(n), repeat: q.repeat, llms: q.llms,
	}
}

// vectors returns the worst case of embeddings made for a tool. Retries come from the
// run's allowance and add nothing.
func (r *run) vectors(node string, a engine.CallBound) tally {
	p := Part{Node: node, Role: a.Role, LLM: a.LLM, vectors: true, factors: own(a.Times)}
	spec := r.model(a.LLM)
	if spec == nil {
		p.Totals = unknown("undefined LLM " + a.LLM)
		return tally{parts: []Part{p}, total: p.Totals, limited: p.Totals}
	}
	p.Input = unbounded[int]("the input of the embedding LLM " + a.LLM + " is not limited")
	p.Tokens = p.Input
	if p.Cost = unbounded[float64]("LLM " + strconv.Quote(a.LLM) + " has no price"); spec.Cost != nil {
		in, _ := spec.Cost.HighestPrices(maxCount)
		p.Cost = usd(p.Input, in)
	}
	return tally{parts: []Part{p}, total: p.Totals, limited: p.Totals, llms: []*engine.ModelSpec{spec}}
}

// agent returns the worst case of runs of a nested Program, within its limits and those
// of the enclosing runs.
func (r *run) agent(node string, a engine.CallBound) tally {
	inner := &run{program: a.Agent, options: r.options, budgeted: r.budgeted || capped(a.Agent.Limits), toolCalls: r.toolCalls}
	if n := a.Agent.Limits.MaxToolCalls; n > 0 && (r.toolCalls == 0 || n < r.toolCalls) {
		inner.toolCalls = n
	}
	t := inner.all()
	t.limited = t.within(a.Agent.Limits)
	for i := range t.parts {
		p := &t.parts[i]
		p.Agent = joined(a.Agent.Name, p.Agent)
		for j := range p.factors {
			p.factors[j].agent = joined(a.Agent.Name, p.factors[j].agent)
		}
	}
	return t.times(node, timesOf(a), a.Times)
}

func joined(outer, inner string) string {
	if inner == "" {
		return outer
	}
	return outer + "/" + inner
}
