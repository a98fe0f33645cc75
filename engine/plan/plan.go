package plan

import (
	"encoding/json"
	"strconv"

	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// Step is a step of a plan, in all plan formats: list, steps and dag.
type Step struct {
	ID        string                     `json:"id"`
	Goal      string                     `json:"goal"`
	Tools     []string                   `json:"tools,omitempty"` // a guided step calls the first
	Success   string                     `json:"success,omitempty"`
	Context   string                     `json:"context,omitempty"`
	Args      map[string]json.RawMessage `json:"args,omitempty"`
	DependsOn []string                   `json:"depends_on,omitempty"`
}

// UnmarshalJSON decodes a step; a string is its goal.
func (s *Step) UnmarshalJSON(b []byte) error {
	type fields Step
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &s.Goal)
	}
	return json.Unmarshal(b, (*fields)(s))
}

// Plan holds the steps that are done and those that remain, in order. Version counts
// accepted plans from 1; 0 = no plan yet.
type Plan struct {
	Version int    `json:"version"`
	Steps   []Step `json:"steps"`
}

// Status is how a step ended; "" = not ended.
type Status string

// The step statuses.
const (
	OK          Status = "ok"
	Failed      Status = "failed"
	Limit       Status = "limit"
	Loop        Status = "loop"
	Timeout     Status = "timeout"
	Cancelled   Status = "cancelled"
	Skipped     Status = "skipped"
	NeedsReview Status = "needs_review"
	Running     Status = "running" // in events, and in the results of unfinished runs
)

// StepRecord is the outcome of a step.
type StepRecord struct {
	ID         string        `json:"id"`
	Goal       string        `json:"goal"` // rendered
	Status     Status        `json:"status"`
	Result     string        `json:"result"`
	Attempts   int           `json:"attempts"`
	Error      string        `json:"error"`
	ToolCalls  []tool.Record `json:"tool_calls"`
	Usage      StepUsage     `json:"usage"`
	DurationMS int64         `json:"duration_ms"`
	Notes      string        `json:"notes,omitempty"` // tool outputs that the spec adds to the result

	Failure *model.Error `json:"-"` // error of the model call that ended it, if any
}

// StepUsage is what a step used.
type StepUsage struct {
	ModelCalls int `json:"model_calls"`
	ToolCalls  int `json:"tool_calls"`
	model.Tokens
	// LatencyMS is the sum of the durations of the model calls, as their providers measured them,
	// and FirstTokenMS the longest time until the first token of a streamed reply.
	LatencyMS    int64 `json:"latency_ms,omitempty"`
	FirstTokenMS int64 `json:"first_token_ms,omitempty"`
}

// AddCall adds a model call.
func (u *StepUsage) AddCall(r *model.Reply) {
	u.ModelCalls++
	u.Tokens = u.Plus(r.Usage)
	u.LatencyMS += r.Latency.Milliseconds()
	u.FirstTokenMS = max(u.FirstTokenMS, r.FirstToken.Milliseconds())
}

// NumberedID returns the id that the engine assigns to the i-th step of a plan, from 0.
func NumberedID(i int) string { return "s" + strconv.Itoa(i+1) }

// MarshalJSON includes cached_input_tokens even if 0.
func (u StepUsage) MarshalJSON() ([]byte, error) {
	type plain StepUsage
	return json.Marshal(struct {
		plain
		Cached int `json:"cached_input_tokens"`
	}{plain(u), u.Cached})
}

// Env returns the step for expressions; plan is the run's plan.
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

// Output returns the result parsed as JSON if it is a JSON object, array, number,
// boolean or string, else the text.
func (r StepRecord) Output() any {
	if !looksLikeJSON(r.Result) {
		return r.Result
	}
	if b := []byte(r.Result); json.Valid(b) {
		return jsonvalue.Plain(b)
	}
	return r.Result
}

// looksLikeJSON avoids parsing most texts.
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
