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

// TraceOf returns the result of a run for the expressions of tests and checks. prompts
// are the texts of its model requests in order, or nil if they were not collected.
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

// plainResult returns a tool's result as a plain value for expressions.
func plainResult(v any) any {
	if data, ok := v.(json.RawMessage); ok {
		return jsonvalue.Plain(data)
	}
	return v
}

// Tracer receives the path that a run and its nested agents take through their programs,
// on the run's own goroutine. A resumed run reports the replayed part again. A Tracer
// must not change anything.
type Tracer interface {
	Trace(p *engine.Program, w TraceEvent)
}

// TraceEvent is an event of a Tracer. The set is closed.
type TraceEvent interface{ traceEvent() }

// The trace events.
type (
	// NodeVisited reports that the walk reached a node, or the end of the graph.
	NodeVisited struct{ Node string }
	// EdgeTaken reports an edge taken; When is its label.
	EdgeTaken struct{ From, To, When string }
	// GuardEvaluated reports that the condition of guards[Index] was evaluated.
	GuardEvaluated struct {
		Index int
		Fired bool
	}
	// Requested reports a model request about to be performed or replayed. It must not be
	// modified.
	Requested struct{ Request *model.Request }
	// Recorded reports a recorded fact.
	Recorded struct{ Fact engine.Fact }
	// Ended reports how the run, or a nested one, ended.
	Ended struct{ Reason stop.Reason }
)

func (NodeVisited) traceEvent()    {}
func (EdgeTaken) traceEvent()      {}
func (GuardEvaluated) traceEvent() {}
func (Requested) traceEvent()      {}
func (Recorded) traceEvent()       {}
func (Ended) traceEvent()          {}

// PathRecorder is a Tracer that records the path of a run through its graph. It ignores
// nested agents. The zero value is ready for one run.
type PathRecorder struct {
	program   *engine.Program // nil = not started
	walk      graph.Path
	edgeTaken bool // an edge was taken from the current node
}

var _ Tracer = (*PathRecorder)(nil)

// Trace implements Tracer.
func (w *PathRecorder) Trace(p *engine.Program, way TraceEvent) {
	if w.program == nil {
		w.program = p // the outermost run reports first
	}
	if p.Graph != w.program.Graph {
		return
	}
	switch way := way.(type) {
	case NodeVisited:
		if from := w.walk.At; from != "" && !w.edgeTaken && way.Node != engine.End {
			w.walk.Take(graph.EdgeCount{From: from, To: way.Node, Jump: true}) // jump to a new plan or to the finalizer
		}
		w.edgeTaken = false
		w.walk.Visit(way.Node)
	case EdgeTaken:
		w.edgeTaken = true
		w.walk.Take(graph.EdgeCount{From: way.From, To: way.To, When: way.When})
	}
}

// Path returns the recorded path with the status of the run.
func (w *PathRecorder) Path(res *engine.Result) *graph.Path {
	out := w.walk
	out.Status, out.Reason = string(res.Status), string(res.StopReason.Code)
	switch path := res.StopReason.Path; {
	case path == "":
	case out.Reason == out.Status: // interrupted: the code says nothing more
		out.Reason = path
	default:
		out.Reason += " (" + path + ")"
	}
	return &out
}
