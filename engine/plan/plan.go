package plan

import (
	"encoding/json"
	"strconv"

	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
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

// Status says how a step ended; "" is a step that has not.
type Status string

// The step statuses (DESIGN section 6).
const (
	OK          Status = "ok"
	Failed      Status = "failed"
	Limit       Status = "limit"
	Loop        Status = "loop"
	Timeout     Status = "timeout"
	Cancelled   Status = "cancelled"
	Skipped     Status = "skipped"
	NeedsReview Status = "needs_review"
	Running     Status = "running" // in events, and in the result of a run that waits or was suspended
)

// StepRecord is what became of a step.
type StepRecord struct {
	ID         string        `json:"id"`
	Goal       string        `json:"goal"` // with its references filled in
	Status     Status        `json:"status"`
	Result     string        `json:"result"`
	Attempts   int           `json:"attempts"`
	Error      string        `json:"error"`
	ToolCalls  []tool.Record `json:"tool_calls"`
	Usage      StepUsage     `json:"usage"`
	DurationMS int64         `json:"duration_ms"`
	Notes      string        `json:"notes,omitempty"` // tool outputs that the spec wants kept beside the result

	Failure *model.Error `json:"-"` // the model call that ended it, where one did
}

// StepUsage is what a step consumed.
type StepUsage struct {
	ModelCalls int `json:"model_calls"`
	ToolCalls  int `json:"tool_calls"`
	model.Tokens
}

// NumberedID is the id the engine gives the i-th step of a plan.
func NumberedID(i int) string { return "s" + strconv.Itoa(i+1) }

// MarshalJSON writes what the caches gave also where it is nothing.
func (u StepUsage) MarshalJSON() ([]byte, error) {
	type plain StepUsage
	return json.Marshal(struct {
		plain
		Cached int `json:"cached_input_tokens"`
	}{plain(u), u.Cached})
}

// Env is the step as expressions see it; plan is the run's.
func (r *StepRecord) Env(plan Plan) exprenv.Step {
	e := exprenv.Step{
		ID: r.ID, Goal: r.Goal, Status: string(r.Status), Attempts: r.Attempts,
		Result: r.Result, Output: r.Output(), Error: r.Error, ToolCalls: len(r.ToolCalls),
	}
	for i := range plan.Steps {
		if plan.Steps[i].ID == r.ID {
			e.Tools = plan.Steps[i].Tools
		}
	}
	return e
}

// Output is the result parsed as JSON where it is a JSON object, array,
// number, boolean or string; else the text.
func (r StepRecord) Output() any {
	if !looksLikeJSON(r.Result) {
		return r.Result
	}
	if b := []byte(r.Result); json.Valid(b) {
		return jsonvalue.Plain(b)
	}
	return r.Result
}

// looksLikeJSON spares most texts a failed parse.
func looksLikeJSON(s string) bool {
	for i := range len(s) {
		switch c := s[i]; c {
		case ' ', '\t', '\n', '\r':
			continue
		case '{', '[', '"', '-', 't', 'f', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			return true
		default:
			return false
		}
	}
	return false
}
