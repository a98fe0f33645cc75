package tool

import (
	"context"

	"github.com/pexctl/pex/engine/memory"
)

// Wrap is a tool that says of itself what t says, and is called otherwise.
// What t keeps for a conversation it keeps; it is neither an Asker nor a
// Delegate, whatever t is.
func Wrap(t Tool, call func(ctx context.Context, c *Call) (*Output, error)) Tool {
	r := wrapped{t, call}
	if keeper, ok := t.(SessionKeeper); ok {
		return wrappedSession{r, keeper.Keeps()}
	}
	return r
}

// WrapToolset is a toolset whose tools are what change makes of them, by the names
// that a run has for them.
func WrapToolset(set Toolset, entry string, change func(name string, t Tool) Tool) Toolset {
	return wrappedToolset{set, entry, change}
}

type wrapped struct {
	tool Tool
	call func(context.Context, *Call) (*Output, error)
}

// wrappedSession also keeps a part of the session.
type wrappedSession struct {
	wrapped
	part memory.SessionPart
}

// wrappedToolset makes its tools anew.
type wrappedToolset struct {
	Toolset
	entry  string
	change func(name string, t Tool) Tool
}

var (
	_ Tool          = wrapped{}
	_ Tool          = wrappedSession{}
	_ SessionKeeper = wrappedSession{}
	_ Toolset       = wrappedToolset{}
)

func (r wrapped) Info() Info { return r.tool.Info() }

func (r wrapped) Call(ctx context.Context, c *Call) (*Output, error) { return r.call(ctx, c) }

func (r wrappedSession) Keeps() memory.SessionPart { return r.part }

func (r wrappedToolset) Bind(def Definition) Tool {
	return r.change(MemberName(r.entry, def.Name), r.Toolset.Bind(def))
}
