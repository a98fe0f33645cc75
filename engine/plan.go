package engine

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Step is one step of a plan. list, steps and dag plans all use it.
type Step struct {
	ID        string                     `json:"id"`
	Goal      string                     `json:"goal"`
	Tools     []string                   `json:"tools,omitempty"` // the first drives a guided step
	Success   string                     `json:"success,omitempty"`
	Context   string                     `json:"context,omitempty"`
	Args      map[string]json.RawMessage `json:"args,omitempty"`
	DependsOn []string                   `json:"depends_on,omitempty"`
}

// UnmarshalJSON reads a step; a string is its goal.
func (s *Step) UnmarshalJSON(b []byte) error {
	type fields Step
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &s.Goal)
	}
	return json.Unmarshal(b, (*fields)(s))
}

// Plan is the steps that are done and those that remain, in order.
// Version counts every plan taken over, from 1; 0 is no plan yet.
type Plan struct {
	Version int    `json:"version"`
	Steps   []Step `json:"steps"`
}

// StepStatus says how a step ended; "" is a step that has not.
type StepStatus string

// The step statuses (DESIGN section 6).
const (
	StepOK          StepStatus = "ok"
	StepFailed      StepStatus = "failed"
	StepLimit       StepStatus = "limit"
	StepLoop        StepStatus = "loop"
	StepTimeout     StepStatus = "timeout"
	StepCancelled   StepStatus = "cancelled"
	StepSkipped     StepStatus = "skipped"
	StepNeedsReview StepStatus = "needs_review"
	StepRunning     StepStatus = "running" // in events, and in the result of a run that waits or was suspended
)

// CallStatus says how a tool call ended.
type CallStatus string

// The tool call statuses (DESIGN section 10).
const (
	CallOK       CallStatus = "ok"
	CallError    CallStatus = "error"
	CallDenied   CallStatus = "denied"
	CallTimedOut CallStatus = "timeout"
	CallUnknown  CallStatus = "unknown" // a write that may have taken effect; see UnknownOutcome
	CallRunning  CallStatus = "running" // in run.calls: it has not ended
)

// StepRecord is what became of a step.
type StepRecord struct {
	ID         string       `json:"id"`
	Goal       string       `json:"goal"` // with its references filled in
	Status     StepStatus   `json:"status"`
	Result     string       `json:"result"`
	Attempts   int          `json:"attempts"`
	Error      string       `json:"error"`
	ToolCalls  []ToolRecord `json:"tool_calls"`
	Usage      StepUsage    `json:"usage"`
	DurationMS int64        `json:"duration_ms"`
	Notes      string       `json:"notes,omitempty"` // tool outputs that the spec wants kept beside the result

	Failure *ModelError `json:"-"` // the model call that ended it, where one did
}

// StepUsage is what a step consumed.
type StepUsage struct {
	ModelCalls int `json:"model_calls"`
	ToolCalls  int `json:"tool_calls"`
	Tokens
}

// ToolRecord is one tool call of a step.
type ToolRecord struct {
	Tool       string          `json:"tool"`
	Args       json.RawMessage `json:"args"`
	Result     any             `json:"result"` // text, or JSON where the tool gave JSON
	Status     CallStatus      `json:"status"`
	DurationMS int64           `json:"duration_ms"`
	Edited     bool            `json:"edited,omitempty"`  // Args are a person's, not the model's
	Repairs    []ArgsRepair    `json:"repairs,omitempty"` // how Args differ from what the model wrote

	text   string // Result as the model reads it, where a tool gave both
	callID string // the model's id of the call
	turn   string // path of the scope that made the call
}

// ArgsRepair is one change that made the arguments a model wrote fit the tool's
// schema. A long value is a string of its head and tail.
type ArgsRepair struct {
	Path    string          `json:"path"`    // JSON Pointer of the value; "" = all arguments
	Repair  string          `json:"repair"`  // what was changed: "integer given as a string"
	Written json.RawMessage `json:"written"` // as the model wrote it; a string where that is not JSON
	Used    json.RawMessage `json:"used"`    // as the tool gets it
}

// String is a repair on one line, for people: /n: integer given as a string ("5" -> 5).
func (r ArgsRepair) String() string {
	text := fmt.Sprintf("%s (%s -> %s)", r.Repair, r.Written, r.Used)
	if r.Path != "" {
		text = r.Path + ": " + text
	}
	return text
}

// numberedStep is the id the engine gives the i-th step of a plan.
func numberedStep(i int) string { return "s" + strconv.Itoa(i+1) }
