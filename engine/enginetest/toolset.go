package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/pexctl/pex/engine"
)

// Toolset is a server of tools that lives in the test. Its fields are set before
// it is used.
type Toolset struct {
	Told    string // name and version
	Tools   []engine.ToolDefinition
	Written engine.ToolsetRules
	Down    error // why it does not answer when it is listed; nil = it does
	// Answer is what its tools give; nil = the arguments they are called with.
	Answer func(ctx context.Context, tool string, c *engine.Call) (*engine.ToolOutput, error)

	Lists, Closes atomic.Int32 // how often it was listed, and closed
}

var _ engine.Toolset = (*Toolset)(nil)

// Info implements engine.Tool.
func (s *Toolset) Info() engine.ToolInfo {
	return engine.ToolInfo{Name: "fake_server", Description: "A server of tools for tests.", Input: json.RawMessage(`{"type":"object"}`)}
}

// Call implements engine.Tool: a toolset is not called itself.
func (s *Toolset) Call(context.Context, *engine.Call) (*engine.ToolOutput, error) {
	return nil, fmt.Errorf("%s was called itself", s.Told)
}

// List implements engine.Toolset.
func (s *Toolset) List(ctx context.Context, _ *engine.Call) (*engine.Listing, error) {
	s.Lists.Add(1)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.Down != nil {
		return nil, s.Down
	}
	return &engine.Listing{Server: s.Told, Tools: slices.Clone(s.Tools)}, nil
}

// Bind implements engine.Toolset.
func (s *Toolset) Bind(def engine.ToolDefinition) engine.Tool { return member{s, def} }

// Rules implements engine.Toolset.
func (s *Toolset) Rules() engine.ToolsetRules { return s.Written }

// Close implements engine.Toolset.
func (s *Toolset) Close() error {
	s.Closes.Add(1)
	return nil
}

// member is a tool of a Toolset.
type member struct {
	set *Toolset
	def engine.ToolDefinition
}

var _ engine.Tool = member{}

// Info implements engine.Tool.
func (m member) Info() engine.ToolInfo {
	return engine.ToolInfo{Name: m.def.Name, Description: m.def.Description, Input: m.def.Input}
}

// Call implements engine.Tool.
func (m member) Call(ctx context.Context, c *engine.Call) (*engine.ToolOutput, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.set.Answer != nil {
		return m.set.Answer(ctx, m.def.Name, c)
	}
	return &engine.ToolOutput{Data: c.Args}, nil
}
