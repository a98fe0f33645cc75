package stop

// Extendable reports whether raising a limit lets the run continue.
func (r Reason) Extendable() bool {
	switch r.Code {
	case MaxSteps, MaxReplans, BudgetTokens, BudgetCost, MaxToolCalls, Deadline:
		return true
	default:
		return false
	}
}

// RunStatus is the status of a run.
type RunStatus string

// The run statuses.
const (
	RunCompleted   RunStatus = "completed"
	RunStopped     RunStatus = "stopped"
	RunInterrupted RunStatus = "interrupted"
	RunFailed      RunStatus = "failed"
	RunCancelled   RunStatus = "cancelled"
)

// Code is why a run ended.
type Code string

// The stop codes.
const (
	Answered         Code = "answered"
	Guard            Code = "guard"
	MaxSteps         Code = "max_steps"
	MaxReplans       Code = "max_replans"
	BudgetTokens     Code = "budget_tokens"
	BudgetCost       Code = "budget_cost"
	MaxToolCalls     Code = "max_tool_calls"
	Deadline         Code = "deadline"
	Loop             Code = "loop"
	Interrupted      Code = "interrupted"
	NeedsReview      Code = "needs_review"
	PlannerInvalid   Code = "planner_invalid"
	OutputInvalid    Code = "output_invalid"
	Refused          Code = "refused"
	StepFailed       Code = "step_failed"
	Drift            Code = "drift" // of a replay or fork: the recording does not match
	Internal         Code = "internal"
	ProviderError    Code = "provider_error"
	ToolsChanged     Code = "tools_changed"
	StoreFull        Code = "store_full"
	StoreCorrupt     Code = "store_corrupt"
	StoreUnavailable Code = "store_unavailable"
	TooLarge         Code = "too_large" // a template renders to too much text
	Suspended        Code = "suspended"
	Cancelled        Code = "cancelled"
)

// Reason is why a run ended, with the spec path that caused it ("limits.max_steps",
// "guards[0]").
type Reason struct {
	Code    Code      `json:"code"`
	Message string    `json:"message"`
	Path    string    `json:"path"`
	Status  RunStatus `json:"-"` // for a guard it depends on its action
}
