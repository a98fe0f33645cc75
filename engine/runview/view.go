package runview

import (
	"encoding/json"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
)

// View is a run for display. Times are milliseconds of active time since the start of the
// run, without waiting for humans.
type View struct {
	Run        string                  `json:"run"`
	Spec       engine.SpecInfo         `json:"spec"`
	Question   string                  `json:"question,omitempty"`
	Status     string                  `json:"status"`
	Stop       stop.Reason             `json:"stop"`
	StartedAt  time.Time               `json:"started_at"`
	DurationMS int64                   `json:"duration_ms"`
	Usage      engine.Usage            `json:"usage"`
	Answer     string                  `json:"answer,omitempty"`
	Output     json.RawMessage         `json:"output,omitempty"` // the answer as JSON, if the spec has an output schema
	Error      string                  `json:"error,omitempty"`
	Graph      string                  `json:"graph,omitempty"` // SVG with the path that the run took
	Groups     []Group                 `json:"groups"`          // in order of their start
	Decisions  []engine.DecisionRecord `json:"decisions,omitempty"`
	Messages   []engine.UserMessage    `json:"messages,omitempty"`
	Open       []interrupt.Question    `json:"open,omitempty"` // open questions
	Warnings   []string                `json:"warnings,omitempty"`
	// Omitted counts the calls beyond MaxCalls, and the prompts beyond a total of MaxText.
	Omitted struct {
		Calls   int `json:"calls,omitempty"`
		Prompts int `json:"prompts,omitempty"`
	} `json:"left_out,omitzero"`
}

// Group is the calls of one step, or of one turn of a node such as the planner.
type Group struct {
	Path     string  `json:"path"` // "step.s1", "plan.1"
	Role     string  `json:"role,omitempty"`
	Step     string  `json:"step,omitempty"` // id
	Goal     string  `json:"goal,omitempty"`
	Status   string  `json:"status,omitempty"` // of a step
	Attempts int     `json:"attempts,omitempty"`
	Result   string  `json:"result,omitempty"`
	Error    string  `json:"error,omitempty"`
	FromMS   float64 `json:"from_ms"`
	ToMS     float64 `json:"to_ms"`
	Tokens   int     `json:"tokens"`
	CostUSD  float64 `json:"cost_usd"`
	// Usage is the tokens of the model calls, LatencyMS the sum of their durations, and
	// FirstTokenMS the longest time until the first token of a streamed reply.
	Usage        model.Tokens `json:"usage,omitzero"`
	LatencyMS    int64        `json:"latency_ms,omitempty"`
	FirstTokenMS int64        `json:"first_token_ms,omitempty"`
	ModelCalls   int          `json:"model_calls"`
	ToolCalls    int          `json:"tool_calls"`
	Items        []Item       `json:"items"`
}

// ItemKind is the kind of an item.
type ItemKind string

// The item kinds.
const (
	ModelItem    ItemKind = "model"    // a model call
	ToolItem     ItemKind = "tool"     // a tool call
	QuestionItem ItemKind = "question" // the run asked a human
	PlanItem     ItemKind = "plan"     // a plan was made
	GuardItem    ItemKind = "guard"    // a guard fired
	LimitItem    ItemKind = "limit"    // a limit was reached
	WarningItem  ItemKind = "warning"
)

// Item is an entry of a group, such as a call or a question.
type Item struct {
	ID     string   `json:"id"` // unique in the view: c1, c2, ...
	Kind   ItemKind `json:"kind"`
	Path   string   `json:"path,omitempty"`
	Agent  string   `json:"agent,omitempty"` // path of the nested agent, or ""
	Name   string   `json:"name"`            // LLM, tool, guard, limit, or kind of question
	Role   string   `json:"role,omitempty"`  // model: planner, executor, ...
	Status string   `json:"status,omitempty"`
	Failed bool     `json:"failed,omitempty"`
	FromMS float64  `json:"from_ms"`
	ToMS   float64  `json:"to_ms"`
	Done   bool     `json:"done"` // it has an outcome
	Text   string   `json:"text,omitempty"`

	// Of model calls.
	Prompt  *Prompt          `json:"prompt,omitempty"`
	Calls   []model.ToolCall `json:"calls,omitempty"` // tool calls requested by the reply
	Tokens  model.Tokens     `json:"tokens,omitzero"`
	CostUSD float64          `json:"cost_usd,omitempty"`

	LatencyMS    int64 `json:"latency_ms,omitempty"`
	FirstTokenMS int64 `json:"first_token_ms,omitempty"` // of a streamed reply

	// Of tool calls and questions.
	Args     json.RawMessage        `json:"args,omitempty"`
	Original json.RawMessage        `json:"original,omitempty"` // arguments before a human edited them
	Repairs  []string               `json:"repairs,omitempty"`  // how the arguments differ from what the model wrote
	Decision *engine.DecisionRecord `json:"decision,omitempty"`

	Steps []engine.StepEvent `json:"steps,omitempty"` // of a plan
}

// Prompt is the prompt of a model call. The messages it shares with an earlier call are
// omitted: Shared is their number, and From the ID of that call's item.
type Prompt struct {
	Shared   int       `json:"shared,omitempty"`
	From     string    `json:"from,omitempty"`
	Messages []Message `json:"messages"`
	Tools    []string  `json:"tools,omitempty"` // offered to the model
	Omitted  bool      `json:"left_out,omitempty"`
}

// Message is a message of a prompt. Its text is split into segments: template text and
// inserted values.
type Message struct {
	Role     string           `json:"role"`
	Tool     string           `json:"tool,omitempty"` // tool that returned it
	Segments []string         `json:"segments"`
	Calls    []model.ToolCall `json:"calls,omitempty"`

	Attachments []model.Attachment `json:"attachments,omitempty"` // files that the model read
}

// Limits of a view, since large pages are slow to open.
const (
	MaxCalls = 2000    // items
	MaxText  = 8 << 20 // bytes of all prompts
)

// DurationMS returns the active time of the group in milliseconds.
func (g Group) DurationMS() float64 { return g.ToMS - g.FromMS }

// DurationMS returns the duration of the item in milliseconds.
func (it Item) DurationMS() float64 { return it.ToMS - it.FromMS }
