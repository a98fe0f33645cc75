package runtime

import (
	"encoding/json"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// TraceOf is what a run came to, for the expressions of tests and checks.
// prompts are the texts of its model requests in the order they were asked for,
// nil where nobody kept them.
func TraceOf(res *engine.Result, prompts []string) exprenv.Trace {
	t := exprenv.Trace{
		Steps: make([]exprenv.Step, len(res.Steps)), Tools: map[string]exprenv.ToolUses{}, Calls: []exprenv.Call{}, Prompts: prompts,
		Status: string(res.Status), StopReason: string(res.StopReason.Code), Response: res.Response, Replans: res.Summary.Replans,
		ModelCalls: res.Usage.ModelCalls, ToolCalls: res.Usage.ToolCalls, Cost: res.Usage.CostUSD, Tokens: res.Usage.Total(), Warnings: res.Warnings,
	}
	for i := range res.Steps {
		st := &res.Steps[i]
		t.Steps[i] = st.Env(res.Plan)
		for _, c := range st.ToolCalls {
			uses := t.Tools[c.Tool]
			uses.Calls++
			if c.Status != tool.CallOK {
				uses.Errors++
			}
			t.Tools[c.Tool] = uses
			t.Calls = append(t.Calls, exprenv.Call{Step: st.ID, Tool: c.Tool, Args: engine.ArgumentsOf(c.Args), Status: string(c.Status), Result: plainResult(c.Result)})
		}
	}
	return t
}

// plainResult is what a tool gave, as expressions want it.
func plainResult(v any) any {
	if data, ok := v.(json.RawMessage); ok {
		return jsonvalue.Plain(data)
	}
	return v
}

// Tracer hears which ways a run, and each agent within it, takes through its
// program: on the run's own goroutine, as it happens, and again where a resumed
// run comes that way again. It only looks on.
type Tracer interface {
	Trace(p *engine.Program, w TraceEvent)
}

// TraceEvent is one thing that a Tracer hears. The set is closed.
type TraceEvent interface{ way() }

// The ways.
type (
	// Visited says that the walk comes to a node of the graph, or to its end.
	Visited struct{ Node string }
	// EdgeTaken says that the walk went along an edge of the graph; When is its
	// label.
	EdgeTaken struct{ From, To, When string }
	// GuardTried says that the condition of guards[Index] was looked at.
	GuardTried struct {
		Index int
		Fired bool
	}
	// Requested says that a model is about to be asked, or a recording in its
	// place. The request is only for reading.
	Requested struct{ Request *model.Request }
	// Recorded says that the run took note of a fact.
	Recorded struct{ Fact engine.Fact }
	// Ended says how the run, or the agent within it, ended.
	Ended struct{ Reason stop.Reason }
)

func (Visited) way()    {}
func (EdgeTaken) way()  {}
func (GuardTried) way() {}
func (Requested) way()  {}
func (Recorded) way()   {}
func (Ended) way()      {}

// traced says whether anybody hears; asked before a Way is made, which costs.
func (r *run) traced() bool { return r.opts.Tracer != nil }

func (r *run) trace(w TraceEvent) { r.opts.Tracer.Trace(r.program, w) }

// PathRecorder is a Tracer that notes which way a run takes through its graph. Agents
// within the run have graphs of their own, and are not followed. The zero
// PathRecorder is ready for one run.
type PathRecorder struct {
	of    *engine.Program // nil = not begun
	walk  graph.Walk
	taken bool // an edge led away from where the walk is
}

var _ Tracer = (*PathRecorder)(nil)

// Trace implements Tracer.
func (w *PathRecorder) Trace(p *engine.Program, way TraceEvent) {
	if w.of == nil {
		w.of = p // the run's own program is heard first, before any within it
	}
	if p.Graph != w.of.Graph {
		return
	}
	switch way := way.(type) {
	case Visited:
		if from := w.walk.At; from != "" && !w.taken && way.Node != engine.End {
			w.walk.Take(graph.Taken{From: from, To: way.Node, Jump: true}) // for a new plan, or a last turn
		}
		w.taken = false
		w.walk.Visit(way.Node)
	case EdgeTaken:
		w.taken = true
		w.walk.Take(graph.Taken{From: way.From, To: way.To, When: way.When})
	}
}

// Walk is the way as far as it was heard, and how the run stands.
func (w *PathRecorder) Walk(res *engine.Result) *graph.Walk {
	out := w.walk
	out.Status, out.Reason = string(res.Status), string(res.StopReason.Code)
	if res.StopReason.Path != "" {
		out.Reason += " (" + res.StopReason.Path + ")"
	}
	return &out
}
