package engine

import (
	"encoding/json"
	"time"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// Charge is what a budget paid for a call of which nobody knows what it took:
// its answer was lost, or is not there yet.
type Charge struct {
	Tokens  int     `json:"tokens,omitempty"`
	CostUSD float64 `json:"cost_usd,omitempty"`
}

// ConversationMessage is a message as a result shows it. A model's own message
// also says which model wrote it, why it stopped and what it consumed.
type ConversationMessage struct {
	model.Message
	Path       string           `json:"path"`                  // of the node or step that sent or received it
	ID         string           `json:"id,omitempty"`          // the provider's id of the reply
	Model      string           `json:"model,omitempty"`       // the model that answered, as the provider names it
	StopReason model.StopReason `json:"stop_reason,omitempty"` // why the model stopped
	Usage      *model.Tokens    `json:"usage,omitempty"`
}

// ConversationMessageOf is m with what is known of the reply it came from.
func ConversationMessageOf(m model.Message, path string) ConversationMessage {
	out := ConversationMessage{Message: m, Path: path}
	if r := m.Reply; r != nil {
		out.ID, out.Model, out.StopReason, out.Usage = r.ID, r.Model, r.Stop, &r.Usage
	}
	return out
}

// FinalToolUse is a tool call of the last turn that called tools.
type FinalToolUse struct {
	ID string `json:"id,omitempty"` // the model's id of the call
	tool.Record
}

// Actor is who makes decisions. The journal keeps it with each of them.
type Actor struct {
	User string `json:"user,omitempty"` // name of the account that the process runs as
	Host string `json:"host,omitempty"` // name of the machine
}

// String is user@host, or the part of it that is known.
func (a Actor) String() string {
	if a.User == "" || a.Host == "" {
		return a.User + a.Host
	}
	return a.User + "@" + a.Host
}

// DecisionRecord is a decision of a person as the journal keeps it: an answer
// to a question, what becomes of a write whose outcome is unknown, other
// limits, or the end of the run.
type DecisionRecord struct {
	At       time.Time       `json:"at,omitzero"`        // wall time; zero = the journal does not say
	By       *Actor          `json:"by,omitempty"`       // nil = the journal does not say
	Path     string          `json:"path,omitempty"`     // of the question or write; "" = it is about the run
	Kind     string          `json:"kind"`               // an interrupt.Kind; or cancel or limits, which nobody asked for
	Tool     string          `json:"tool,omitempty"`     // that was to be called,
	Args     json.RawMessage `json:"args,omitempty"`     // and its arguments, or the plan, as they were asked about
	Question string          `json:"question,omitempty"` // in words
	// Do is approve, deny, edit or text; done, redo or skip of a write; cancel;
	// or extend of limits.
	Do     string          `json:"do"`
	Reason string          `json:"reason,omitempty"`
	Edit   json.RawMessage `json:"edit,omitempty"`   // edit: the arguments or plan used instead
	Text   string          `json:"text,omitempty"`   // text: the answer; extend: what was set
	Result json.RawMessage `json:"result,omitempty"` // done: what the tool gave
}

// Usage is what a run consumed.
type Usage struct {
	ModelCalls   int                   `json:"model_calls"`
	ToolCalls    int                   `json:"tool_calls"`
	model.Tokens                       // input_tokens, output_tokens, ...
	CostUSD      float64               `json:"cost_usd"`
	ByModel      map[string]ModelUsage `json:"by_model"`
}

// ModelUsage is the share of one llm of the spec.
type ModelUsage struct {
	ModelCalls int `json:"model_calls"`
	model.Tokens
	CostUSD float64 `json:"cost_usd"`
}

// Summary counts the steps.
type Summary struct {
	Steps       int                 `json:"steps"`
	ByStatus    map[plan.Status]int `json:"by_status"`
	SuccessRate float64             `json:"success_rate"` // ok / steps, 0 without steps
	Attempts    int                 `json:"attempts"`
	Replans     int                 `json:"replans"`
	Tools       []string            `json:"tools"` // used, sorted
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
	// Decisions are what people decided, in the order of the journal.
	Decisions []DecisionRecord `json:"decisions,omitempty"`
	// FinalResponse is the model's message that gave the answer: its text is the
	// answer, without the JSON that a planner wraps it in. Nil = no model wrote it.
	FinalResponse *ConversationMessage `json:"final_response"`
	// FinalToolUses are the tool calls of the last turn that called tools.
	FinalToolUses []FinalToolUse        `json:"tool_uses_in_final_turn"`
	Conversation  []ConversationMessage `json:"conversation,omitempty"`

	Lost    map[string]Charge `json:"-"` // what a budget paid for calls that gave no answer, by their path
	Failure *model.Error      `json:"-"` // what a provider_error was
	Miss    error             `json:"-"` // a *Miss: what its recording lacked, where that ended it; else nil
	Resumes bool              `json:"-"` // the journal could not be appended to: once it can, the run goes on
	Limit   uint64            `json:"-"` // of a run that is looked at: seq of the record behind the limit it ended at; 0 = it met none
	Wrote   bool              `json:"-"` // a tool that writes was called: of a nested run, so that its step is not repeated
}

// Results and events write these objects whole. Without a method of their own
// they would leave out what the journal, which holds them too, need not repeat.

// MarshalJSON writes a list of llms also where none was asked.
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

// MarshalJSON writes what the caches gave also where it is nothing.
func (u ModelUsage) MarshalJSON() ([]byte, error) {
	type plain ModelUsage
	return json.Marshal(struct {
		plain
		Cached int `json:"cached_input_tokens"`
	}{plain(u), u.Cached})
}
