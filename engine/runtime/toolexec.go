package runtime

import (
	"context"
	"encoding/json"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/tool"
)

// OneCall is what came of CallTool.
type OneCall struct {
	tool.Record
	Effect tool.Effect `json:"effect"`
}

// CallTool calls one tool of a program as a step of a run would: its arguments
// are checked and mended, with the fixed ones on top, guards and people are
// asked before it, its time and its output are bounded, its secrets masked. No
// node of the program runs. The record is the call's; it has no status where it
// was not made: then the Result says what was in the way, a question that is
// open or a guard. An error is an *tool.ArgumentsError.
func CallTool(ctx context.Context, p *engine.Program, in engine.Input, h engine.Host, o Options, u engine.Invocation) (OneCall, *engine.Result, error) {
	const id = "call"
	call := &toolOnce{u: u}
	if len(u.Args) == 0 {
		call.u.Args = json.RawMessage("{}")
	}
	alone := *p
	alone.Graph = &graph.Graph[engine.Condition]{Start: id, Nodes: []graph.Node{{ID: id, Type: id}}}
	alone.Nodes = map[string]engine.Node{id: call}
	res := Run(ctx, &alone, in, h, o)
	if call.unfit != nil {
		return OneCall{}, res, &tool.ArgumentsError{Err: call.unfit}
	}
	return call.rec, res, nil
}

// toolOnce is a node that makes one call.
type toolOnce struct {
	u     engine.Invocation
	unfit error
	rec   OneCall
}

var _ engine.Node = (*toolOnce)(nil)

// Run implements Node.
func (t *toolOnce) Run(s engine.Scope) (err error) {
	if t.unfit = s.Fits(t.u.Tool, t.u.Args); t.unfit != nil {
		return nil
	}
	t.rec.Effect = s.(*scope).r.tools[t.u.Tool].effect() // nobody else runs it
	t.rec.Record, _, err = s.Tool("tool", t.u)
	return err
}
