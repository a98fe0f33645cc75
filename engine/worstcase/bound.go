package worstcase

import (
	"github.com/pexctl/pex/engine"
)

// Options is what Bound is told beside the Program.
type Options struct {
	// Context is the most tokens that a request of any llm has, since no more fit
	// into its context window. 0 = that is not known.
	Context int
}

// Estimate is the most that a run of a Program can ask of models.
type Estimate struct {
	Agent   string  `json:"agent"`             // the Program's name
	Limited Totals  `json:"limited"`           // what a run can reach
	Total   Totals  `json:"total"`             // the same without limits.max_tokens and limits.max_cost
	Parts   []Part  `json:"parts"`             // what the total is made of
	Levers  []Lever `json:"levers"`            // what of the spec makes it so, the heaviest first
	Context int     `json:"context,omitempty"` // Options.Context
}

// Part is what one role of one node asks in a run.
type Part struct {
	Agent string `json:"agent,omitempty"` // the agent within the agent, "outer/inner"; "" = the run's own
	Node  string `json:"node,omitempty"`  // "" = attempts that are repeated
	Tool  string `json:"tool,omitempty"`  // the tool that asks, or runs the agent
	Role  string `json:"role"`
	LLM   string `json:"llm,omitempty"`
	Why   string `json:"why,omitempty"` // how the number of calls comes about
	Totals

	factors []factor
	vectors bool
}

// repeats is the role of the Part of attempts that are made again.
const repeats = "repeats"

// Vectors says that the Part is of vectors, which are no calls: no context window
// bounds what they are made of.
func (p *Part) Vectors() bool { return p.vectors }

// Bound is the worst case of one run. The Program must have a graph.
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
			e.Parts[i].Why = inWords(e.Parts[i].factors)
		}
	}
	e.Levers = levers(e.Parts)
	return e
}

func capped(l engine.Limits) bool { return l.MaxTokens > 0 || l.MaxCost > 0 }

// run is one run of one Program, its own or within another.
type run struct {
	program   *engine.Program
	options   Options
	budgeted  bool // by a limit of its own, or of a run around it
	toolCalls int  // that it may make, by its limit and those around it; 0 = no limit
}

// all adds up what the nodes of a run ask.
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
		worst := node.Worst(r.program)
		t.add(r.asks(n.ID, worst.Visit, w.visits(n.ID)))
		t.add(r.asks(n.ID, worst.Step, w.started(n.ID)))
	}
	t.add(r.closing())
	return t
}

// walk asks the nodes of the graph how they go on.
func (r *run) walk() *walk {
	w := &walk{r.program, map[string]engine.Worst{}}
	for _, n := range r.program.Graph.Nodes {
		if node, ok := r.program.Nodes[n.ID].(engine.Bounded); ok {
			w.worst[n.ID] = node.Worst(r.program)
		}
	}
	return w
}

// closing is the answer of a run that ends early: a visit beyond those of the
// walk, since a budget may end a run anywhere.
func (r *run) closing() tally {
	id, n := engine.NodeWith[engine.Finalizer](r.program)
	if n == nil {
		return tally{}
	}
	node, ok := n.(engine.Bounded)
	if !ok {
		why := unknown("the calls of the finalizer are not known")
		return tally{parts: []Part{{Node: id, Role: "closing", Totals: why}}, total: why, limited: why}
	}
	return r.asks(id, node.Worst(r.program).Visit, engine.Factor{N: 1})
}

// asks is what a node asks so many times.
func (r *run) asks(node string, all []engine.Ask, times engine.Factor) tally {
	var t tally
	for _, a := range all {
		a.Times = append([]engine.Factor{times}, a.Times...)
		t.add(r.ask(node, a))
	}
	return t
}

// ask is one kind of thing that a node asks.
func (r *run) ask(node string, a engine.Ask) tally {
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

// call is calls of a model.
func (r *run) call(node string, a engine.Ask) tally {
	q, n := r.request(a), counted(a)
	p := Part{Node: node, Role: a.Role, LLM: a.LLM, Totals: q.answer.plus(q.lost).times(n), factors: own(a.Times)}
	if !n.Known() {
		p.Why = n.Unbounded
	}
	return tally{
		parts: []Part{p}, total: p.Totals, limited: p.Totals, firsts: most(q.firsts).times(n),
		again: most(q.again).times(n), repeat: q.repeat, llms: q.llms,
	}
}

// vectors is what a tool has a model make of texts: tokens that no model answers.
// Attempts that are repeated come out of those of the run, and add none to them.
func (r *run) vectors(node string, a engine.Ask) tally {
	p := Part{Node: node, Role: a.Role, LLM: a.LLM, vectors: true, factors: own(a.Times)}
	spec := r.model(a.LLM)
	if spec == nil {
		p.Totals = unknown("undefined LLM " + a.LLM)
		return tally{parts: []Part{p}, total: p.Totals, limited: p.Totals}
	}
	p.Input = never[int]("the input of the embedding LLM " + a.LLM + " is not limited")
	p.Tokens = p.Input
	if p.Cost = never[float64]("LLM " + a.LLM + " has no price"); spec.Cost != nil {
		in, _ := spec.Cost.Dearest(countless)
		p.Cost = usd(p.Input, in)
	}
	return tally{parts: []Part{p}, total: p.Totals, limited: p.Totals, llms: []*engine.ModelSpec{spec}}
}

// agent is runs of another Program, which keep its limits and those around them.
func (r *run) agent(node string, a engine.Ask) tally {
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
	return t.scaled(node, counted(a), a.Times)
}

func joined(outer, inner string) string {
	if inner == "" {
		return outer
	}
	return outer + "/" + inner
}
