package runtime

import (
	"context"
	"encoding/json"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/tool"
)

// OneCall is the outcome of CallTool.
type OneCall struct {
	tool.Record
	Effect tool.Effect `json:"effect"`
}

// CallTool calls one tool of a program the way a step of a run does: its arguments are
// validated and repaired with the fixed ones applied, guards are evaluated, approvals are
// requested, time and output are limited, secrets are redacted. No node of the program
// runs. The record has no status if the call was not made; then the Result says why, such
// as an open question or a guard. A non-nil error is a *tool.ArgumentsError.
func CallTool(ctx context.Context, p *engine.Program, in engine.Input, h engine.Host, o Options, u engine.Invocation) (OneCall, *engine.Result, error) {
	const id = "call"
	call := &singleCall{inv: u}
	if len(u.Args) == 0 {
		call.inv.Args = json.RawMessage("{}")
	}
	alone := *p
	alone.Graph = &graph.Graph[engine.Condition]{Start: id, Nodes: []graph.Node{{ID: id, Type: id}}}
	alone.Nodes = map[string]engine.Node{id: call}
	res := Run(ctx, &alone, in, h, o)
	if call.argsErr != nil {
		return OneCall{}, res, &tool.ArgumentsError{Err: call.argsErr}
	}
	return call.rec, res, nil
}

// singleCall is a node that makes one tool call.
type singleCall struct {
	inv     engine.Invocation
	argsErr error
	rec     OneCall
}

var _ engine.Node = (*singleCall)(nil)

// Run implements Node.
func (t *singleCall) Run(s engine.Scope) (err error) {
	if t.argsErr = s.Fits(t.inv.Tool, t.inv.Args); t.argsErr != nil {
		return nil
	}
	t.rec.Effect = s.(*scope).r.tools[t.inv.Tool].effect() // only the runtime runs this node
	t.rec.Record, _, err = s.Tool("tool", t.inv)
	return err
}
