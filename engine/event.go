package engine

import (
	"encoding/json"
	"time"
)

// EventVersion is the version of the event schema: fields are only ever added.
const EventVersion = 1

// EventType names what an event tells.
type EventType string

// The event types (DESIGN section 10).
const (
	RunStarted       EventType = "run.started"
	PlanCreated      EventType = "plan.created"
	StepStartedEvent EventType = "step.started"
	ModelStarted     EventType = "model.started"
	ModelDelta       EventType = "model.delta"
	ModelRetrying    EventType = "model.retrying"
	ModelCompleted   EventType = "model.completed"
	ToolStarted      EventType = "tool.started"
	ToolProgress     EventType = "tool.progress"
	ToolRetrying     EventType = "tool.retrying"
	ToolCompleted    EventType = "tool.completed"
	ToolInterrupted  EventType = "tool.interrupted"
	StepCompleted    EventType = "step.completed"
	ReflectCompleted EventType = "reflect.completed"
	GuardFired       EventType = "guard.fired"
	LimitReached     EventType = "limit.reached"
	InterruptRaised  EventType = "interrupt.raised"
	RunSuspended     EventType = "run.suspended"
	RunCompleted     EventType = "run.completed"
	Warning          EventType = "warning"
)

// Transient says that events of the type are not derived from the journal: they
// have no number, and At is the machine's time.
func (t EventType) Transient() bool {
	switch t {
	case ModelDelta, ModelRetrying, ToolProgress, ToolRetrying, RunSuspended:
		return true
	default:
		return false
	}
}

// Event is one line of the event stream: what happened, for people and
// machines that watch. Events are derived from what the journal holds and are
// sent after it does, in order. Deltas, progress, retries and run.suspended are
// transient: they are sent as they happen, but never before the event that started
// their call. Of the fields below Agent, those that an event has no use for are left out.
type Event struct {
	V    int       `json:"v"`
	Seq  int       `json:"seq"` // counts the events of the run from 1, over all its sessions; 0 for transient events
	At   time.Time `json:"at"`
	Run  string    `json:"run"`
	Type EventType `json:"type"`
	Path string    `json:"path,omitempty"` // effect path: of the effect, or of the step or node that tells
	// Agent is the path of the agent within the run that it happened in: its
	// plans and steps are not the run's own. "" = the run itself.
	Agent string `json:"agent,omitempty"`

	Spec       *SpecInfo       `json:"spec,omitempty"`
	Question   string          `json:"question,omitempty"`
	Plan       *Plan           `json:"plan,omitempty"`
	By         string          `json:"by,omitempty"` // the node or role it came from
	Step       *StepEvent      `json:"step,omitempty"`
	Model      string          `json:"model,omitempty"` // llm of the spec
	Role       string          `json:"role,omitempty"`
	Tool       string          `json:"tool,omitempty"`
	Args       json.RawMessage `json:"args,omitempty"`
	Repairs    []ArgsRepair    `json:"repairs,omitempty"` // how args differ from what the model wrote
	Status     string          `json:"status,omitempty"`
	Text       string          `json:"text,omitempty"`    // delta, progress, result, warning or message
	Message    *Message        `json:"message,omitempty"` // what a model replied: text and tool calls
	Usage      *Tokens         `json:"usage,omitempty"`
	CostUSD    float64         `json:"cost_usd,omitempty"`
	Duration   int64           `json:"duration_ms,omitempty"`
	FirstToken int64           `json:"first_token_ms,omitempty"` // of a reply that streams
	Retry      *RetryEvent     `json:"retry,omitempty"`
	Guard      *GuardEvent     `json:"guard,omitempty"`
	Stop       *StopReason     `json:"stop_reason,omitempty"`
	Interrupt  *Question       `json:"interrupt,omitempty"`
	Totals     *Usage          `json:"totals,omitempty"`
}

// StepEvent is a step as events show it.
type StepEvent struct {
	ID       string     `json:"id"`
	Goal     string     `json:"goal"`
	Status   StepStatus `json:"status"`
	Attempts int        `json:"attempts,omitempty"`
	Result   string     `json:"result,omitempty"`
	Error    string     `json:"error,omitempty"`
}

// RetryEvent is a wait before a failed call is repeated.
type RetryEvent struct {
	Attempt     int    `json:"attempt"`      // number of the attempt after the wait
	MaxAttempts int    `json:"max_attempts"` // of the retry policy, the first one included
	Wait        int64  `json:"wait_ms"`
	Error       string `json:"error"` // why the attempt before it failed; secrets are masked
}

// GuardEvent is a guard that fired.
type GuardEvent struct {
	Name    string      `json:"name"`
	Path    string      `json:"path"` // guards[0]
	At      GuardPlace  `json:"at"`
	Do      GuardAction `json:"do"`
	Message string      `json:"message,omitempty"`
}

// Sink receives events, one at a time for a run, but from several runs at once.
// It must not block for long: the run waits for it.
type Sink interface {
	Send(Event)
}

// Recaller is a capability of a Sink that shows a run as a whole: when a run is
// resumed it hears, before anything new, what earlier sessions told.
type Recaller interface {
	Recall(Event)
}
