package runs

import (
	"slices"

	"github.com/pexctl/pex/engine/stop"
)

// Statuses returns the statuses of a Summary.
func Statuses() []string {
	return names(Running, stop.RunCompleted, stop.RunStopped, stop.RunInterrupted, stop.RunFailed, stop.RunCancelled, Corrupt, Unreadable)
}

// StopCodes returns the codes of a Summary's stop reason.
func StopCodes() []string {
	return names(
		stop.Answered, stop.Guard, stop.MaxSteps, stop.MaxReplans, stop.BudgetTokens, stop.BudgetCost,
		stop.MaxToolCalls, stop.Deadline, stop.Loop, stop.Interrupted, stop.NeedsReview,
		stop.PlannerInvalid, stop.OutputInvalid, stop.Refused, stop.StepFailed, stop.Drift, stop.Internal,
		stop.ProviderError, stop.ToolsChanged, stop.StoreUnavailable, stop.StoreFull, stop.StoreCorrupt, stop.TooLarge, stop.Suspended, stop.Cancelled,
	)
}

// IsStatus reports whether a Filter accepts a word as Status.
func IsStatus(word string) bool {
	return slices.Contains(Statuses(), word) || slices.Contains(StopCodes(), word)
}

func names[T ~string](all ...T) []string {
	out := make([]string, len(all))
	for i, each := range all {
		out[i] = string(each)
	}
	return out
}
