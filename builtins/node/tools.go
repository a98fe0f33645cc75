package node

import (
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

var (
	_ engine.Equipped = (*executor)(nil)
	_ engine.Equipped = (*planner)(nil)
	_ engine.Equipped = (*reflector)(nil)
	_ engine.Equipped = (*toolNode)(nil)
)

// toolsName is the name by which templates show the tools.
const toolsName = "parameters.tools_prompt"

// Tools is what steps can call; where another spec executes them, nothing.
func (x *executor) Tools(v engine.View) []engine.ToolInfo {
	if !x.cfg.Agent.IsZero() {
		return nil
	}
	return x.visible(v)
}

// Tools is what the planner is told that steps can use.
func (p *planner) Tools(v engine.View) []engine.ToolInfo {
	x := valuesOf(v, p.id)
	x.planner = p.cfg
	return x.listedTools(p.cfg.LLM.Name, p.cfg.SystemPrompt, p.cfg.PlannerPromptTemplate)
}

// Tools is what the reflector is told that steps can use.
func (x *reflector) Tools(v engine.View) []engine.ToolInfo {
	vals := valuesOf(v, x.id)
	vals.reflector = x.cfg
	own := x.cfg.SystemPrompt
	if own.IsZero() {
		own = vals.plan().SystemPrompt
	}
	return vals.listedTools(x.cfg.LLM.Name, own, x.cfg.ReflectPromptTemplate)
}

// listedTools is the tools that a prompt lists: none, unless one of its texts has
// their place.
func (x *values) listedTools(llm string, own, template component.PromptRef) []engine.ToolInfo {
	own = systemPrompt(x.v, llm, own)
	if !x.places(template, toolsName) && !own.Uses(toolsName) {
		return nil
	}
	return stepTools(x.v, x.of)
}

// Tools is the one tool that the node calls.
func (t *toolNode) Tools(v engine.View) []engine.ToolInfo {
	if info, ok := findTool(v.Tools, t.cfg.Tool); ok {
		return []engine.ToolInfo{info}
	}
	return nil
}
