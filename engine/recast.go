package engine

import "context"

// Recast is a tool that says of itself what t says, and is called otherwise.
// What t keeps for a conversation it keeps; it is no Asker, whatever t is.
func Recast(t Tool, call func(ctx context.Context, c *Call) (*ToolOutput, error)) Tool {
	r := recast{t, call}
	if keeper, ok := t.(SessionTool); ok {
		return recastSession{r, keeper.Keeps()}
	}
	return r
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

var (
	_ Tool        = recast{}
	_ Tool        = recastSession{}
	_ SessionTool = recastSession{}
)

func (r recast) Info() ToolInfo { return r.tool.Info() }

func (r recast) Call(ctx context.Context, c *Call) (*ToolOutput, error) { return r.call(ctx, c) }

func (r recastSession) Keeps() SessionPart { return r.part }
