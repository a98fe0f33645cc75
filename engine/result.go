package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// Charge is what a budget paid for a call of unknown usage: its reply was lost, or has
// not arrived.
type Charge struct {
	Tokens  int     `json:"tokens,omitempty"`
	CostUSD float64 `json:"cost_usd,omitempty"`
}

// ConversationMessage is a message in a result. A model's message also has the model,
// stop reason and usage.
type ConversationMessage struct {
	model.Message
	Path       string           `json:"path"`                  // of the node or step that sent or received it
	ID         string           `json:"id,omitempty"`          // the provider's id of the reply
	Model      string           `json:"model,omitempty"`       // as the provider names it
	StopReason model.StopReason `json:"stop_reason,omitempty"` // why the model stopped
	Usage      *model.Tokens    `json:"usage,omitempty"`
	// LatencyMS is the duration of the call, and FirstTokenMS the time until the first token of a
	// streamed reply.
	LatencyMS    int64 `json:"latency_ms,omitempty"`
	FirstTokenMS int64 `json:"first_token_ms,omitempty"`
}

// ConversationMessageOf returns m with the details of its reply.
func ConversationMessageOf(m model.Message, path string) ConversationMessage {
	out := ConversationMessage{Message: m, Path: path}
	if r := m.Reply; r != nil {
		out.ID, out.Model, out.StopReason, out.Usage = r.ID, r.Model, r.Stop, &r.Usage
		out.LatencyMS, out.FirstTokenMS = Milliseconds(r.Latency), Milliseconds(r.FirstToken)
	}
	return out
}

// FinalToolUse is a tool call of the last turn that called tools.
type FinalToolUse struct {
	ID string `json:"id,omitempty"` // the model's id of the call
	tool.Record
}

// Actor is who makes decisions.
type Actor = interrupt.Actor

// DecisionRecord is a human decision in the journal: an answer to a question, the
// resolution of an unknown outcome, a limit change, or a cancellation.
type DecisionRecord struct {
	At       time.Time       `json:"at,omitzero"`        // wall time; zero = unknown
	By       *Actor          `json:"by,omitempty"`       // nil = unknown
	Path     string          `json:"path,omitempty"`     // of the question or write; "" = about the run
	Kind     string          `json:"kind"`               // an interrupt.Kind, or cancel or limits
	Tool     string          `json:"tool,omitempty"`     // tool of the call in question
	Args     json.RawMessage `json:"args,omitempty"`     // its arguments, or the plan in question
	Question string          `json:"question,omitempty"` // text of the question
	// Do is approve, deny, edit or text; done, redo or skip for a write; cancel; or
	// extend for limits.
	Do     string          `json:"do"`
	Reason string          `json:"reason,omitempty"`
	Edit   json.RawMessage `json:"edit,omitempty"`   // edit: the arguments or plan used instead
	Text   string          `json:"text,omitempty"`   // text: the answer; extend: the changed limits
	Result json.RawMessage `json:"result,omitempty"` // done: the tool's result
}

// ChangesRun reports whether the decision gave the run input: an edit, a text, the reason of a
// denial, the result of a call, or a higher limit.
func (d *DecisionRecord) ChangesRun() bool {
	switch d.Do {
	case "edit", "text", "done", "extend":
		return true
	}
	return d.Do == "deny" && d.Reason != ""
}

// Usage is what a run used.
type Usage struct {
	ModelCalls   int                   `json:"model_calls"`
	ToolCalls    int                   `json:"tool_calls"`
	model.Tokens                       // input_tokens, output_tokens, ...
	CostUSD      float64               `json:"cost_usd"`
	LatencyMS    int64                 `json:"latency_ms,omitempty"` // of all model calls together
	ByModel      map[string]ModelUsage `json:"by_model"`
}

// ModelUsage is the usage of one LLM of the spec.
type ModelUsage struct {
	ModelCalls int `json:"model_calls"`
	model.Tokens
	CostUSD   float64 `json:"cost_usd"`
	LatencyMS int64   `json:"latency_ms,omitempty"` // of all calls together
}

// Summary summarizes the steps.
type Summary struct {
	Steps       int                 `json:"steps"`
	ByStatus    map[plan.Status]int `json:"by_status"`
	SuccessRate float64             `json:"success_rate"` // ok / steps; 0 without steps
	Attempts    int                 `json:"attempts"`
	Replans     int                 `json:"replans"`
	Tools       []string            `json:"tools"` // used tools, sorted
}

// SpecInfo identifies the spec that ran.
type SpecInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// Result is the outcome of a run, as printed by `pexctl run -o json`. Fields without
// omitempty are always present, if empty as "", 0, [], {} or null; the same holds for
// nested objects.
type Result struct {
	RunID                 string               `json:"run_id"`
	Status                stop.RunStatus       `json:"status"`
	StartedAt             time.Time            `json:"started_at"`
	DurationMS            int64                `json:"duration_ms"`
	StopReason            stop.Reason          `json:"stop_reason"`
	Response              string               `json:"response"`
	Output                json.RawMessage      `json:"output"` // null = none
	Plan                  plan.Plan            `json:"plan"`
	Steps                 []plan.StepRecord    `json:"steps"`
	Usage                 Usage                `json:"usage"`
	Summary               Summary              `json:"summary"`
	MemoryID              string               `json:"memory_id"`
	ParentInteractionID   string               `json:"parent_interaction_id"`
	ExecutorMemoryID      string               `json:"executor_agent_memory_id"`
	ExecutorInteractionID string               `json:"executor_agent_parent_interaction_id"`
	Interrupts            []interrupt.Question `json:"interrupts"`
	Spec                  SpecInfo             `json:"spec"`
	Warnings              []string             `json:"warnings"`
	Error                 string               `json:"error"`
	// Labels are those of the input.
	Labels map[string]string `json:"labels,omitempty"`
	// EditedPrompts are the prompts that a fork has edited, by Prompt.Name, sorted.
	EditedPrompts []string `json:"edited_prompts,omitempty"`
	// Decisions are the human decisions, in journal order.
	Decisions []DecisionRecord `json:"decisions,omitempty"`
	// Messages are the messages that users sent to the run, in journal order.
	Messages []UserMessage `json:"messages,omitempty"`
	// FinalResponse is the model message with the answer. Its text is the answer, without
	// the JSON that a planner wraps it in. Nil = no model wrote it.
	FinalResponse *ConversationMessage `json:"final_response"`
	// FinalToolUses are the tool calls of the last turn that called tools.
	FinalToolUses []FinalToolUse        `json:"tool_uses_in_final_turn"`
	Conversation  []ConversationMessage `json:"conversation,omitempty"`

	LostCharges    map[string]Charge `json:"-"` // charges for calls without a reply, by path
	Failure        *model.Error      `json:"-"` // error of a provider_error
	ReplayMismatch error             `json:"-"` // *replay.Mismatch of a recording that lacked an effect; else nil
	Resumable      bool              `json:"-"` // the journal could not be appended to; the run can be resumed
	Limit          uint64            `json:"-"` // of a followed run: sequence number of the record after the limit at which it ended; 0 = none
	HasWritten     bool              `json:"-"` // of a nested run: it called a tool that writes, so its step must not be repeated
}

// Outcome is the text that a conversation shows for a run that has ended: its answer, and
// if the run did not complete, why.
func (r *Result) Outcome() string {
	if r.Status == stop.RunCompleted && r.Response != "" {
		return r.Response
	}
	why := fmt.Sprintf("The run %s: %s", r.Status, r.StopReason.Code)
	if r.Status == stop.RunCancelled {
		why = "The run was cancelled"
	}
	if r.StopReason.Message != "" {
		why += ": " + r.StopReason.Message
	}
	if r.Response == "" {
		return why
	}
	return r.Response + "\n\n" + why
}

// The types below omit empty fields in the journal, but results and events include them.

// MarshalJSON includes by_model even if empty.
func (u Usage) MarshalJSON() ([]byte, error) {
	type plain Usage
	if u.ByModel == nil {
		u.ByModel = map[string]ModelUsage{}
	}
	return json.Marshal(struct {
		plain
		Cached int `json:"cached_input_tokens"`
	}{plain(u), u.Cached})
}

// MarshalJSON includes cached_input_tokens even if 0.
func (u ModelUsage) MarshalJSON() ([]byte, error) {
	type plain ModelUsage
	return json.Marshal(struct {
		plain
		Cached int `json:"cached_input_tokens"`
	}{plain(u), u.Cached})
}
