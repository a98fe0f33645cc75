package node

import (
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

var (
	_ engine.ToolCaller = (*executor)(nil)
	_ engine.ToolUser   = (*planner)(nil)
	_ engine.ToolUser   = (*reflector)(nil)
	_ engine.ToolCaller = (*toolNode)(nil)
)

// CallsTools implements engine.ToolCaller.
func (*executor) CallsTools() {}

// CallsTools implements engine.ToolCaller.
func (*toolNode) CallsTools() {}

// toolsName is the template variable that lists the tools.
const toolsName = "parameters.tools_prompt"

// Tools returns the tools that steps can call: none if another spec runs the steps.
func (x *executor) Tools(v engine.View) []tool.Info {
	if !x.cfg.Agent.IsZero() {
		return nil
	}
	return x.StepTools(v)
}

// Tools returns the tools that the planner's prompt lists.
func (p *planner) Tools(v engine.View) []tool.Info {
	return p.use(valuesOf(&v, p.id)).listedTools(p.cfg.LLM.Name, p.cfg.SystemPrompt, p.cfg.PlannerPromptTemplate)
}

// Tools returns the tools that the reflector's prompt lists.
func (x *reflector) Tools(v engine.View) []tool.Info {
	vals := valuesOf(&v, x.id)
	vals.reviewPrompt, vals.hasReviewPrompt = x.cfg.ReflectPrompt, true
	own := x.cfg.SystemPrompt
	if own.IsZero() {
		own = vals.plan().SystemPrompt
	}
	return vals.listedTools(x.cfg.LLM.Name, own, x.cfg.ReflectPromptTemplate)
}

// listedTools returns the tools that a prompt lists: none if none of its texts includes
// them.
func (x *values) listedTools(llm string, own, template component.PromptRef) []tool.Info {
	own = systemPrompt(&x.v, llm, own)
	if !x.uses(template, toolsName) && !own.Uses(toolsName) {
		return nil
	}
	return stepTools(&x.v, x.nodeID)
}

// Tools returns the tool that the node calls.
func (t *toolNode) Tools(v engine.View) []tool.Info {
	if info, ok := findTool(v.Tools, t.cfg.Tool); ok {
		return []tool.Info{info}
	}
	return nil
}
