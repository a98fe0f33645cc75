package lockfile

import (
	"context"
	"fmt"

	"github.com/pexctl/pex/engine/tool"
)

// Placeholder returns a toolset for runs without servers: it lists the pinned tools and calls
// none. A nil entry has none; then why is the error.
func (e *Entry) Placeholder(set tool.Toolset, why error) tool.Toolset {
	return placeholder{set, e, why}
}

type placeholder struct {
	tool.Toolset
	entry *Entry
	why   error
}

var _ tool.Toolset = placeholder{}

// List implements tool.Toolset with the pinned tools.
func (s placeholder) List(context.Context, *tool.Call) (*tool.Listing, error) {
	if s.entry == nil || s.why != nil {
		return nil, s.why
	}
	return &tool.Listing{Server: s.entry.Server, Tools: s.entry.Tools}, nil
}

// Bind implements tool.Toolset; the tool must not be called.
func (s placeholder) Bind(def tool.Definition) tool.Tool {
	return tool.Wrap(s.Toolset.Bind(def), func(context.Context, *tool.Call) (*tool.Output, error) {
		return nil, fmt.Errorf("%s was not called: tool servers are not used here; set its output under run.tools of the test", def.Name)
	})
}

// Close implements tool.Toolset.
func (s placeholder) Close() error { return nil }
