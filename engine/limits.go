package engine

import (
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
)

// Wider reports whether l leaves more room than from at a stop.
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

// wider compares limits, of which 0 means none.
func wider[T int | float64 | time.Duration](from, to T) bool {
	return to == 0 || from != 0 && to > from
}

// Plus returns the sum of two usages.
func (u ModelUsage) Plus(o ModelUsage) ModelUsage {
	return ModelUsage{u.ModelCalls + o.ModelCalls, u.Tokens.Plus(o.Tokens), u.CostUSD + o.CostUSD, u.LatencyMS + o.LatencyMS}
}

// Minus returns the difference of two usages.
func (u ModelUsage) Minus(o ModelUsage) ModelUsage {
	t := model.Tokens{Input: u.Input - o.Input, Output: u.Output - o.Output, Cached: u.Cached - o.Cached, CacheWrite: u.CacheWrite - o.CacheWrite, Reasoning: u.Reasoning - o.Reasoning}
	return ModelUsage{u.ModelCalls - o.ModelCalls, t, u.CostUSD - o.CostUSD, u.LatencyMS - o.LatencyMS}
}

// maxFinalizeTime is the maximum part of max_duration reserved for the finalizer.
const maxFinalizeTime = 30 * time.Second

// FinalizeTime returns the part of max_duration reserved for the finalizer: a tenth, at most
// 30 s.
func (l Limits) FinalizeTime() time.Duration { return min(maxFinalizeTime, l.MaxDuration/10) }
