package engine

import (
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
)

// Wider says whether limits leave more room than others at a stop.
func (l Limits) Wider(from Limits, at stop.Code) bool {
	switch at {
	case stop.MaxSteps:
		return l.MaxSteps > from.MaxSteps
	case stop.MaxReplans:
		return l.MaxReplans > from.MaxReplans
	case stop.BudgetTokens:
		return wider(from.MaxTokens, l.MaxTokens)
	case stop.BudgetCost:
		return wider(from.MaxCost, l.MaxCost)
	case stop.MaxToolCalls:
		return wider(from.MaxToolCalls, l.MaxToolCalls)
	case stop.Deadline:
		return wider(from.MaxDuration, l.MaxDuration)
	default:
		return false
	}
}

// wider compares limits of which 0 is none.
func wider[T int | float64 | time.Duration](from, to T) bool {
	return to == 0 || from != 0 && to > from
}

// Plus adds two usages.
func (u ModelUsage) Plus(o ModelUsage) ModelUsage {
	return ModelUsage{u.ModelCalls + o.ModelCalls, u.Tokens.Plus(o.Tokens), u.CostUSD + o.CostUSD}
}

// Minus subtracts a usage.
func (u ModelUsage) Minus(o ModelUsage) ModelUsage {
	t := model.Tokens{Input: u.Input - o.Input, Output: u.Output - o.Output, Cached: u.Cached - o.Cached, CacheWrite: u.CacheWrite - o.CacheWrite, Reasoning: u.Reasoning - o.Reasoning}
	return ModelUsage{u.ModelCalls - o.ModelCalls, t, u.CostUSD - o.CostUSD}
}

// maxClosing bounds the part of max_duration that is kept for the finalizer.
const maxClosing = 30 * time.Second

// Closing is the part of max_duration that is kept for the finalizer: a tenth of
// it, at most 30 s.
func (l Limits) Closing() time.Duration { return min(maxClosing, l.MaxDuration/10) }
