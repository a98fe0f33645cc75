package engine

import (
	"encoding/json"
	"time"
)

// RunStatus is how a run stands.
type RunStatus string

// The run statuses (DESIGN section 10).
const (
	Completed   RunStatus = "completed"
	Stopped     RunStatus = "stopped"
	Interrupted RunStatus = "interrupted"
	Failed      RunStatus = "failed"
	Cancelled   RunStatus = "cancelled"
)

// StopCode is why a run ended.
type StopCode string

// The stop codes (DESIGN section 6, "Ending").
const (
	StopAnswered         StopCode = "answered"
	StopGuard            StopCode = "guard"
	StopMaxSteps         StopCode = "max_steps"
	StopMaxReplans       StopCode = "max_replans"
	StopBudgetTokens     StopCode = "budget_tokens"
	StopBudgetCost       StopCode = "budget_cost"
	StopMaxToolCalls     StopCode = "max_tool_calls"
	StopDeadline         StopCode = "deadline"
	StopLoop             StopCode = "loop"
	StopInterrupted      StopCode = "interrupted"
	StopNeedsReview      StopCode = "needs_review"
	StopPlannerInvalid   StopCode = "planner_invalid"
	StopOutputInvalid    StopCode = "output_invalid"
	StopRefused          StopCode = "refused"
	StopStepFailed       StopCode = "step_failed"
	StopDrift            StopCode = "drift" // of a replay or a fork: the recording answered something else
	StopInternal         StopCode = "internal"
	StopProviderError    StopCode = "provider_error"
	StopToolsChanged     StopCode = "tools_changed"
	StopStoreFull        StopCode = "store_full"
	StopStoreCorrupt     StopCode = "store_corrupt"
	StopStoreUnavailable StopCode = "store_unavailable"
	StopTooLarge         StopCode = "too_large" // a template renders to more than a run may hold
	StopSuspended        StopCode = "suspended"
	StopCancelled        StopCode = "cancelled"
)

// StopReason is the one typed reason a run ended, with the YAML path that
// caused it ("limits.max_steps", "guards[0]").
type StopReason struct {
	Code    StopCode  `json:"code"`
	Message string    `json:"message"`
	Path    string    `json:"path"`
	Status  RunStatus `json:"-"` // the run's status; a guard's depends on what it does
}

// Usage is what a run consumed.
type Usage struct {
	ModelCalls int                   `json:"model_calls"`
	ToolCalls  int                   `json:"tool_calls"`
	Tokens                           // input_tokens, output_tokens, ...
	CostUSD    float64               `json:"cost_usd"`
	ByModel    map[string]ModelUsage `json:"by_model"`
}

// ModelUsage is the share of one llm of the spec.
type ModelUsage struct {
	ModelCalls int `json:"model_calls"`
	Tokens
	CostUSD float64 `json:"cost_usd"`
}

// Summary counts the steps.
type Summary struct {
	Steps       int                `json:"steps"`
	ByStatus    map[StepStatus]int `json:"by_status"`
	SuccessRate float64            `json:"success_rate"` // ok / steps, 0 without steps
	Attempts    int                `json:"attempts"`
	Replans     int                `json:"replans"`
	Tools       []string           `json:"tools"` // used, sorted
}

// SpecInfo names the spec that ran.
type SpecInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// Result is what `pexctl run -o json` prints. Every field that DESIGN section 10
// lists is there, also where it says nothing: as "", 0, [], {} or null. So it is
// in the objects within it; see show.go for those that others keep shorter.
type Result struct {
	RunID                 string          `json:"run_id"`
	Status                RunStatus       `json:"status"`
	StartedAt             time.Time       `json:"started_at"`
	DurationMS            int64           `json:"duration_ms"`
	StopReason            StopReason      `json:"stop_reason"`
	Response              string          `json:"response"`
	Output                json.RawMessage `json:"output"` // null = none
	Plan                  Plan            `json:"plan"`
	Steps                 []StepRecord    `json:"steps"`
	Usage                 Usage           `json:"usage"`
	Summary               Summary         `json:"summary"`
	MemoryID              string          `json:"memory_id"`
	ParentInteractionID   string          `json:"parent_interaction_id"`
	ExecutorMemoryID      string          `json:"executor_agent_memory_id"`
	ExecutorInteractionID string          `json:"executor_agent_parent_interaction_id"`
	Interrupts            []Question      `json:"interrupts"`
	Spec                  SpecInfo        `json:"spec"`
	Warnings              []string        `json:"warnings"`
	Error                 string          `json:"error"`
	// Decisions are what people decided, in the order of the journal.
	Decisions []DecisionRecord `json:"decisions,omitempty"`
	// FinalResponse is the model's message that gave the answer: its text is the
	// answer, without the JSON that a planner wraps it in. Nil = no model wrote it.
	FinalResponse *ConversationMessage `json:"final_response"`
	// FinalToolUses are the tool calls of the last turn that called tools.
	FinalToolUses []FinalToolUse        `json:"tool_uses_in_final_turn"`
	Conversation  []ConversationMessage `json:"conversation,omitempty"`

	Lost    map[string]Charge `json:"-"` // what a budget paid for calls that gave no answer, by their path
	Failure *ModelError       `json:"-"` // what a provider_error was
	Miss    error             `json:"-"` // a *Miss: what its recording lacked, where that ended it; else nil
	Resumes bool              `json:"-"` // the journal could not be appended to: once it can, the run goes on
	Limit   uint64            `json:"-"` // of a run that is looked at: seq of the record behind the limit it ended at; 0 = it met none
	Wrote   bool              `json:"-"` // a tool that writes was called: of a nested run, so that its step is not repeated
}
