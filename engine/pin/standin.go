package pin

import (
	"context"
	"fmt"

	"github.com/pexctl/pex/engine/tool"
)

// Standin is a toolset where nobody may be asked: it has the tools that the
// entry pins, and calls none of them. A nil entry has none; why says so, and the
// way out.
func (e *Entry) Standin(set tool.Toolset, why error) tool.Toolset {
	return standin{set, e, why}
}

type standin struct {
	tool.Toolset
	entry *Entry
	why   error
}

var _ tool.Toolset = standin{}

// List implements tool.Toolset: it gives what is pinned.
func (s standin) List(context.Context, *tool.Call) (*tool.Listing, error) {
	if s.entry == nil || s.why != nil {
		return nil, s.why
	}
	return &tool.Listing{Server: s.entry.Server, Tools: s.entry.Tools}, nil
}

// Bind implements tool.Toolset: the tool says what it is, and is never called.
func (s standin) Bind(def tool.Definition) tool.Tool {
	return tool.Wrap(s.Toolset.Bind(def), func(context.Context, *tool.Call) (*tool.Output, error) {
		return nil, fmt.Errorf("%s was not called: its server is not asked here; a test says under run.tools what it gives", def.Name)
	})
}

// Close implements tool.Toolset: nothing was begun.
func (s standin) Close() error { return nil }
