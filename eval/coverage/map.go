package coverage

import (
	"slices"
	"sync"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/tool"
)

// Map records what runs cover of a program. It is safe for concurrent use.
type Map struct {
	name    string
	program *engine.Program
	order   []key

	mu          sync.Mutex
	hits        map[key]int
	evaluations map[key]int
}

var _ runtime.Tracer = (*Map)(nil)

// New returns the empty map of a program whose runs have these tools. name is its name in reports.
func New(name string, p *engine.Program, tools []string) *Map {
	return &Map{name: name, program: p, order: items(p, tools), hits: map[key]int{}, evaluations: map[key]int{}}
}

// Trace implements runtime.Tracer. It ignores sub-agents, which have tests of their own.
func (m *Map) Trace(p *engine.Program, w runtime.TraceEvent) {
	if p != m.program {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch w := w.(type) {
	case runtime.EdgeTaken:
		m.hits[key{Edges, edge(p, w.From, w.To, w.When)}]++
	case runtime.GuardEvaluated:
		k := key{Guards, guard(&p.Guards[w.Index])}
		m.evaluations[k]++
		if w.Fired {
			m.hits[k]++
		}
	case runtime.Recorded:
		m.fact(w.Fact)
	case runtime.Ended:
		m.hits[key{Stops, string(w.Reason.Code)}]++
	case runtime.Requested:
	}
}

func (m *Map) fact(f engine.Fact) {
	switch f := f.(type) {
	case engine.ToolCalled:
		m.hits[key{Tools, f.Record.Tool}]++
		if f.Record.Status != tool.CallOK {
			m.hits[key{Faults, f.Record.Tool}]++
		}
	case engine.StepEnded:
		m.step(f.Record.Status)
	case engine.PlanAccepted:
		if f.Replan {
			m.hits[key{Paths, replanned}]++
		}
	case engine.NodeReplied:
		if f.Reply.Result != "" && m.planner(f.By) {
			m.hits[key{Paths, answeredDirectly}]++
		}
	case engine.WarningAdded:
		if f.Repair != "" {
			m.hits[key{Paths, string(f.Repair)}]++
		}
	default: // covers no path
	}
}

func (m *Map) step(status plan.Status) {
	switch status {
	case plan.Failed, plan.Timeout:
		m.hits[key{Paths, stepFailed}]++
	case plan.Limit, plan.Loop:
		m.hits[key{Paths, stepLimit}]++
	default: // succeeded, or did not fail by itself
	}
}

func (m *Map) planner(id string) bool {
	at, _ := engine.NodeWith[engine.Planner](m.program)
	return at == id
}

// Report is the coverage of a program.
type Report struct {
	Spec  string  `json:"spec"`
	Hit   int     `json:"hit"`
	All   int     `json:"all"`
	Share float64 `json:"share"` // Hit / All, or 1 if All is 0
	Items []Item  `json:"items"` // by kind
}

// Report returns the coverage so far.
func (m *Map) Report() Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := Report{Spec: m.name}
	for _, k := range m.order {
		r.Items = append(r.Items, Item{Kind: k.kind, Name: k.name, Hits: m.hits[k], Evaluations: m.evaluations[k]})
	}
	return r.withTotals()
}

// Of counts the covered and all items of a kind.
func (r Report) Of(kind Kind) (hit, all int) {
	for _, it := range r.Items {
		if it.Kind == kind {
			all++
			if it.Hits > 0 {
				hit++
			}
		}
	}
	return hit, all
}

// Uncovered returns the items that were not covered.
func (r Report) Uncovered() []Item {
	var out []Item
	for _, it := range r.Items {
		if it.Hits == 0 {
			out = append(out, it)
		}
	}
	return out
}

// Join merges the reports of the same spec, which may be tested under several overrides. The result is in the
// order of each spec's first report.
func Join(all []Report) []Report {
	var out []Report
	at := map[string]int{}
	for _, r := range all {
		i, seen := at[r.Spec]
		if !seen {
			at[r.Spec] = len(out)
			out = append(out, r)
			continue
		}
		out[i] = merge(out[i], r)
	}
	return out
}

func merge(a, b Report) Report {
	r := Report{Spec: a.Spec, Items: append([]Item(nil), a.Items...)}
	for _, it := range b.Items {
		i := slices.IndexFunc(r.Items, func(o Item) bool { return o.Kind == it.Kind && o.Name == it.Name })
		if i < 0 {
			r.Items = append(r.Items, it)
			continue
		}
		r.Items[i].Hits += it.Hits
		r.Items[i].Evaluations += it.Evaluations
	}
	slices.SortStableFunc(r.Items, func(a, b Item) int { return slices.Index(Kinds(), a.Kind) - slices.Index(Kinds(), b.Kind) })
	return r.withTotals()
}

// withTotals returns the report with its totals.
func (r Report) withTotals() Report {
	r.All, r.Hit, r.Share = len(r.Items), 0, 1
	for _, it := range r.Items {
		if it.Hits > 0 {
			r.Hit++
		}
	}
	if r.All > 0 {
		r.Share = float64(r.Hit) / float64(r.All)
	}
	return r
}
