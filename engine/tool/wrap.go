package tool

import (
	"context"

	"github.com/pexctl/pex/engine/memory"
)

// Wrap returns a Tool with t's Info whose Call is replaced by call. It keeps t's
// SessionKeeper, but no other capability.
func Wrap(t Tool, call func(ctx context.Context, c *Call) (*Output, error)) Tool {
	r := wrapped{t, call}
	if keeper, ok := t.(SessionKeeper); ok {
		return wrappedSession{r, keeper.SessionPart()}
	}
	return r
}

// WrapToolset returns a Toolset whose tools are replaced by change, called with their
// names in the run.
func WrapToolset(set Toolset, entry string, change func(name string, t Tool) Tool) Toolset {
	return wrappedToolset{set, entry, change}
}

type wrapped struct {
	tool Tool
	call func(context.Context, *Call) (*Output, error)
}

// wrappedSession is a wrapped SessionKeeper.
type wrappedSession struct {
	wrapped
	part memory.SessionPart
}

// wrappedToolset replaces a toolset's tools.
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

func (r wrappedSession) SessionPart() memory.SessionPart { return r.part }

func (r wrappedToolset) Bind(def Definition) Tool {
	return r.change(MemberName(r.entry, def.Name), r.Toolset.Bind(def))
}
