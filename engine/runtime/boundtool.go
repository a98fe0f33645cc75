package runtime

import (
	"context"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/runtime/redact"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// BoundTool is a tool as one run has it.
type BoundTool struct {
	tool.Binding

	known    tool.Effect      // effect, asked once a run
	mask     redact.Mask      // of the run's host
	seats    *seats           // limits concurrent calls; nil = no limit
	server   string           // entry of the toolset that it belongs to, or ""
	def      *tool.Definition // likewise, as its server defines it
	sampling tool.Sampling    // likewise
	vectors  string           // the llm that makes vectors for it, or ""
}

// Member says of which entry's server a bound tool is one, and how the server
// defines it; nil = of none.
func (t *BoundTool) Member() (entry string, def *tool.Definition) { return t.server, t.def }

// ToolInfos is what models and guards know of tools.
func ToolInfos(tools []BoundTool) []tool.Info {
	out := make([]tool.Info, len(tools))
	for i := range tools {
		out[i] = tools[i].Info()
	}
	return out
}

// Tools are the tools that a run of a program would have, in spec order: its
// toolsets are asked what they offer, and nothing else is touched. Warnings tell
// what is missing. The error is that a server's tools are not those pinned.
func Tools(ctx context.Context, p *engine.Program, in engine.Input, h engine.Host) (tools []BoundTool, warnings []string, err error) {
	const id = "tools"
	box := &toolbox{}
	alone := *p
	alone.Graph = &graph.Graph[engine.Condition]{Start: id, Nodes: []graph.Node{{ID: id, Type: id}}}
	alone.Nodes = map[string]engine.Node{id: box}
	h.Sinks = nil
	res := Run(ctx, &alone, in, h, Options{})
	if res.StopReason.Code != stop.Answered {
		return nil, res.Warnings, &stop.Error{Reason: res.StopReason}
	}
	return box.tools, res.Warnings, nil
}

// toolbox is a node that looks what tools there are.
type toolbox struct{ tools []BoundTool }

var _ engine.Node = (*toolbox)(nil)

// Run implements Node.
func (b *toolbox) Run(s engine.Scope) error {
	r := s.(*scope).r // nobody else runs it
	for _, info := range r.infos {
		b.tools = append(b.tools, *r.tools[info.Name])
	}
	return nil
}
