package engine

import "context"

// Recast is a tool that says of itself what t says, and is called otherwise.
// What t keeps for a conversation it keeps; it is neither an Asker nor a
// Delegate, whatever t is.
func Recast(t Tool, call func(ctx context.Context, c *Call) (*ToolOutput, error)) Tool {
	r := recast{t, call}
	if keeper, ok := t.(SessionTool); ok {
		return recastSession{r, keeper.Keeps()}
	}
	return r
}

// RecastAll is a toolset whose tools are what change makes of them, by the names
// that a run has for them.
func RecastAll(set Toolset, entry string, change func(name string, t Tool) Tool) Toolset {
	return recastSet{set, entry, change}
}

type recast struct {
	tool Tool
	call func(context.Context, *Call) (*ToolOutput, error)
}

// recastSession also keeps a part of the session.
type recastSession struct {
	recast
	part SessionPart
}

// recastSet makes its tools anew.
type recastSet struct {
	Toolset
	entry  string
	change func(name string, t Tool) Tool
}

var (
	_ Tool        = recast{}
	_ Tool        = recastSession{}
	_ SessionTool = recastSession{}
	_ Toolset     = recastSet{}
)

func (r recast) Info() ToolInfo { return r.tool.Info() }

func (r recast) Call(ctx context.Context, c *Call) (*ToolOutput, error) { return r.call(ctx, c) }

func (r recastSession) Keeps() SessionPart { return r.part }

func (r recastSet) Bind(def ToolDefinition) Tool {
	return r.change(MemberName(r.entry, def.Name), r.Toolset.Bind(def))
}
