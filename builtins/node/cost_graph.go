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

// WorstCase counts a run of the other spec.
func (a *agent) WorstCase(*engine.Program) engine.WorstCase {
	program, _ := a.cfg.Agent.Program().(*engine.Program)
	return engine.WorstCase{Starts: engine.StartsOne, Step: []engine.CallBound{{Agent: program}}}
}

// WorstCase counts one call of the tool, which is an entry of tools or a member of one.
func (t *toolNode) WorstCase(p *engine.Program) engine.WorstCase {
	var entries []string
	for i := range p.Tools {
		name := p.Tools[i].Name
		if name == t.cfg.Tool || strings.HasPrefix(t.cfg.Tool, tool.MemberName(name, "")) {
			entries = append(entries, name)
		}
	}
	return engine.WorstCase{
		Starts: engine.StartsOne, Step: []engine.CallBound{{Tools: entries}},
		Jumps: replansAt(p, engine.BeforeTool, engine.AfterTool),
	}
}

// WorstCase is zero: a template needs no model.
func (*transform) WorstCase(*engine.Program) engine.WorstCase {
	return engine.WorstCase{Starts: engine.StartsOne}
}

// WorstCase counts the model call that chooses, if there is a choice.
func (x *router) WorstCase(*engine.Program) engine.WorstCase {
	if x.cfg.Prompt.IsZero() {
		return engine.WorstCase{}
	}
	return engine.WorstCase{Visit: []engine.CallBound{{Role: "judge", LLM: x.cfg.LLM.Name}}}
}

// WorstCase is zero: a human answers.
func (*human) WorstCase(*engine.Program) engine.WorstCase {
	return engine.WorstCase{Starts: engine.StartsOne}
}
