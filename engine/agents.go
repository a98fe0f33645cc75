package engine

import "slices"

// Effect is the most that a run of the program may do to the world: what the
// strongest of its tools does, or of the agents within it. What an author says of
// an agent's effect counts for the tool that is the agent, not here.
func (p *Program) Effect() Effect {
	var effects []Effect
	for i := range p.Tools {
		effects = append(effects, p.Tools[i].Effect)
	}
	for _, a := range p.Agents {
		effects = append(effects, a.Effect())
	}
	for _, e := range effects {
		if e != ReadEffect && e != IdempotentEffect {
			return WriteEffect // one that does not say may write
		}
	}
	if slices.Contains(effects, IdempotentEffect) {
		return IdempotentEffect
	}
	return ReadEffect
}
