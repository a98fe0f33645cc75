package pin

import (
	"context"
	"fmt"

	"github.com/pexctl/pex/engine"
)

// Standin is a toolset where nobody may be asked: it has the tools that the
// entry pins, and calls none of them. A nil entry has none; why says so, and the
// way out.
func (e *Entry) Standin(set engine.Toolset, why error) engine.Toolset {
	return standin{set, e, why}
}

type standin struct {
	engine.Toolset
	entry *Entry
	why   error
}

var _ engine.Toolset = standin{}

// List implements engine.Toolset: it gives what is pinned.
func (s standin) List(context.Context, *engine.Call) (*engine.Listing, error) {
	if s.entry == nil || s.why != nil {
		return nil, s.why
	}
	return &engine.Listing{Server: s.entry.Server, Tools: s.entry.Tools}, nil
}

// Bind implements engine.Toolset: the tool says what it is, and is never called.
func (s standin) Bind(def engine.ToolDefinition) engine.Tool {
	return engine.Recast(s.Toolset.Bind(def), func(context.Context, *engine.Call) (*engine.ToolOutput, error) {
		return nil, fmt.Errorf("%s was not called: its server is not asked here; a test says under run.tools what it gives", def.Name)
	})
}

// Close implements engine.Toolset: nothing was begun.
func (s standin) Close() error { return nil }
