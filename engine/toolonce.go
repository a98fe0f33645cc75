package engine

import (
	"context"
	"encoding/json"

	"github.com/pexctl/pex/engine/graph"
)

// ArgumentsError says why a tool cannot be called with the arguments it was
// given. It is the caller's mistake: nothing was called.
type ArgumentsError struct{ Err error }

// Error implements error.
func (e *ArgumentsError) Error() string { return e.Err.Error() }

// Unwrap gives the complaint itself.
func (e *ArgumentsError) Unwrap() error { return e.Err }

// OneCall is what came of CallTool.
type OneCall struct {
	ToolRecord
	Effect Effect `json:"effect"`
}

// CallTool calls one tool of a program as a step of a run would: its arguments
// are checked and mended, with the fixed ones on top, guards and people are
// asked before it, its time and its output are bounded, its secrets masked. No
// node of the program runs. The record is the call's; it has no status where it
// was not made: then the Result says what was in the way, a question that is
// open or a guard. An error is an *ArgumentsError.
func CallTool(ctx context.Context, p *Program, in Input, h Host, o Options, u Invocation) (OneCall, *Result, error) {
	const id = "call"
	call := &toolOnce{u: u}
	if len(u.Args) == 0 {
		call.u.Args = json.RawMessage("{}")
	}
	alone := *p
	alone.Graph = &graph.Graph[Condition]{Start: id, Nodes: []graph.Node{{ID: id, Type: id}}}
	alone.Nodes = map[string]Node{id: call}
	res := Run(ctx, &alone, in, h, o)
	if call.unfit != nil {
		return OneCall{}, res, &ArgumentsError{call.unfit}
	}
	return call.rec, res, nil
}

// toolOnce is a node that makes one call.
type toolOnce struct {
	u     Invocation
	unfit error
	rec   OneCall
}

var _ Node = (*toolOnce)(nil)

// Run implements Node.
func (t *toolOnce) Run(s Scope) (err error) {
	if t.unfit = s.Fits(t.u.Tool, t.u.Args); t.unfit != nil {
		return nil
	}
	t.rec.Effect = s.(*scope).r.tools[t.u.Tool].effect() // nobody else runs it
	t.rec.ToolRecord, _, err = s.Tool("tool", t.u)
	return err
}
