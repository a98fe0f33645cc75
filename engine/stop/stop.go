package stop

// Extendable says whether a stop is one that more of a limit undoes.
func (r Reason) Extendable() bool {
	switch r.Code {
	case MaxSteps, MaxReplans, BudgetTokens, BudgetCost, MaxToolCalls, Deadline:
		return true
	default:
		return false
	}
}

// RunStatus is how a run stands.
type RunStatus string

// The run statuses (DESIGN section 10).
const (
	RunCompleted   RunStatus = "completed"
	RunStopped     RunStatus = "stopped"
	RunInterrupted RunStatus = "interrupted"
	RunFailed      RunStatus = "failed"
	RunCancelled   RunStatus = "cancelled"
)

// Code is why a run ended.
type Code string

// The stop codes (DESIGN section 6, "Ending").
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
	Drift            Code = "drift" // of a replay or a fork: the recording answered something else
	Internal         Code = "internal"
	ProviderError    Code = "provider_error"
	ToolsChanged     Code = "tools_changed"
	StoreFull        Code = "store_full"
	StoreCorrupt     Code = "store_corrupt"
	StoreUnavailable Code = "store_unavailable"
	TooLarge         Code = "too_large" // a template renders to more than a run may hold
	Suspended        Code = "suspended"
	Cancelled        Code = "cancelled"
)

// Reason is the one typed reason a run ended, with the YAML path that
// caused it ("limits.max_steps", "guards[0]").
type Reason struct {
	Code    Code      `json:"code"`
	Message string    `json:"message"`
	Path    string    `json:"path"`
	Status  RunStatus `json:"-"` // the run's status; a guard's depends on what it does
}
