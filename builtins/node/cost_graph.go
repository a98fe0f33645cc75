package node

import (
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
)

var (
	_ engine.Bounded = (*agent)(nil)
	_ engine.Bounded = (*toolNode)(nil)
	_ engine.Bounded = (*transform)(nil)
	_ engine.Bounded = (*router)(nil)
	_ engine.Bounded = (*human)(nil)
)

// Worst is a run of the other spec.
func (a *agent) Worst(*engine.Program) engine.Worst {
	program, _ := a.cfg.Agent.Program().(*engine.Program)
	return engine.Worst{Starts: engine.StartsOne, Step: []engine.Ask{{Agent: program}}}
}

// Worst is a call of the tool: an entry of the spec, or a member of one.
func (t *toolNode) Worst(p *engine.Program) engine.Worst {
	var entries []string
	for i := range p.Tools {
		name := p.Tools[i].Name
		if name == t.cfg.Tool || strings.HasPrefix(t.cfg.Tool, tool.MemberName(name, "")) {
			entries = append(entries, name)
		}
	}
	return engine.Worst{
		Starts: engine.StartsOne, Step: []engine.Ask{{Tools: entries}},
		Jumps: replansAt(p, engine.BeforeTool, engine.AfterTool),
	}
}

// Worst is nothing: the text is made without a model.
func (*transform) Worst(*engine.Program) engine.Worst {
	return engine.Worst{Starts: engine.StartsOne}
}

// Worst is the model's choice, where there is something to choose.
func (x *router) Worst(*engine.Program) engine.Worst {
	if x.cfg.Prompt.IsZero() {
		return engine.Worst{}
	}
	return engine.Worst{Visit: []engine.Ask{{Role: "judge", LLM: x.cfg.LLM.Name}}}
}

// Worst is nothing that costs: people answer.
func (*human) Worst(*engine.Program) engine.Worst { return engine.Worst{Starts: engine.StartsOne} }
