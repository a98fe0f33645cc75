package engine

import (
	"encoding/json"
	"slices"

	"github.com/pexctl/pex/engine/tool"
)

// Effect returns the strongest effect of the program's tools and nested agents. An effect
// that the author declared for an agent counts for the tool that is the agent, not here.
func (p *Program) Effect() tool.Effect {
	var effects []tool.Effect
	for i := range p.Tools {
		effects = append(effects, p.Tools[i].Effect)
	}
	for _, a := range p.Agents {
		effects = append(effects, a.Effect())
	}
	for _, e := range effects {
		if e != tool.ReadEffect && e != tool.IdempotentEffect {
			return tool.WriteEffect // unknown effects count as writes
		}
	}
	if slices.Contains(effects, tool.IdempotentEffect) {
		return tool.IdempotentEffect
	}
	return tool.ReadEffect
}

// AgentTool is a Tool whose result comes from another program. It is not called: the
// program runs as part of the run, in its journal and on its budget.
type AgentTool interface {
	Program() *Program
	// Parameters returns the program's parameters for arguments that fit Info().Input;
	// context is nil outside guided steps. An error, such as a *jsonvalue.PrecisionError,
	// fails the call.
	Parameters(args json.RawMessage, context *tool.PlanContext) (map[string]any, error)
}
