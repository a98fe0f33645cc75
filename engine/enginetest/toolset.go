package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/pexctl/pex/engine/tool"
)

// Toolset is an in-memory tool server. Its fields must be set before use.
type Toolset struct {
	Server    string // name and version
	Tools     []tool.Definition
	ToolRules tool.Rules
	ListError error // returned by List; nil = success
	// Respond returns the output of its tools; nil = they return their arguments.
	Respond func(ctx context.Context, tool string, c *tool.Call) (*tool.Output, error)

	ListCalls, CloseCalls atomic.Int32 // numbers of calls of List and Close
}

var _ tool.Toolset = (*Toolset)(nil)

// Info implements tool.Tool.
func (s *Toolset) Info() tool.Info {
	return tool.Info{Name: "fake_server", Description: "A server of tools for tests.", Input: json.RawMessage(`{"type":"object"}`)}
}

// Call implements tool.Tool: a toolset is not called itself.
func (s *Toolset) Call(context.Context, *tool.Call) (*tool.Output, error) {
	return nil, fmt.Errorf("%s was called itself", s.Server)
}

// List implements tool.Toolset.
func (s *Toolset) List(ctx context.Context, _ *tool.Call) (*tool.Listing, error) {
	s.ListCalls.Add(1)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.ListError != nil {
		return nil, s.ListError
	}
	return &tool.Listing{Server: s.Server, Tools: slices.Clone(s.Tools)}, nil
}

// Bind implements tool.Toolset.
func (s *Toolset) Bind(def tool.Definition) tool.Tool { return member{s, def} }

// Rules implements tool.Toolset.
func (s *Toolset) Rules() tool.Rules { return s.ToolRules }

// Close implements tool.Toolset.
func (s *Toolset) Close() error {
	s.CloseCalls.Add(1)
	return nil
}

// member is a tool of a Toolset.
type member struct {
	set *Toolset
	def tool.Definition
}

var _ tool.Tool = member{}

// Info implements tool.Tool.
func (m member) Info() tool.Info {
	return tool.Info{Name: m.def.Name, Description: m.def.Description, Input: m.def.Input}
}

// Call implements tool.Tool.
func (m member) Call(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.set.Respond != nil {
		return m.set.Respond(ctx, m.def.Name, c)
	}
	return &tool.Output{Data: c.Args}, nil
}
