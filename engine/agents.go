package engine

import (
	"encoding/json"
	"slices"

	"github.com/pexctl/pex/engine/tool"
)

// Effect is the most that a run of the program may do to the world: what the
// strongest of its tools does, or of the agents within it. What an author says of
// an agent's effect counts for the tool that is the agent, not here.
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
			return tool.WriteEffect // one that does not say may write
		}
	}
	if slices.Contains(effects, tool.IdempotentEffect) {
		return tool.IdempotentEffect
	}
	return tool.ReadEffect
}

// AgentTool is a capability of a Tool whose result another program gives. It is
// not called: the program runs as a part of the run, in its journal and on its
// budget.
type AgentTool interface {
	Program() *Program
	// Parameters returns the program's parameters for arguments that fit
	// Info().Input; context is nil outside guided steps. An error, such as a
	// *jsonvalue.PrecisionError, is the call's failure.
	Parameters(args json.RawMessage, context *tool.PlanContext) (map[string]any, error)
}
