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

	Spec       *SpecInfo           `json:"spec,omitempty"`
	Question   string              `json:"question,omitempty"`
	Plan       *plan.Plan          `json:"plan,omitempty"`
	By         string              `json:"by,omitempty"` // the node or role it came from
	Step       *StepEvent          `json:"step,omitempty"`
	Model      string              `json:"model,omitempty"` // llm of the spec
	Role       string              `json:"role,omitempty"`
	Tool       string              `json:"tool,omitempty"`
	Args       json.RawMessage     `json:"args,omitempty"`
	Repairs    []tool.ArgsRepair   `json:"repairs,omitempty"` // how args differ from what the model wrote
	Status     string              `json:"status,omitempty"`
	Text       string              `json:"text,omitempty"`    // delta, progress, result, warning or message
	Message    *model.Message      `json:"message,omitempty"` // what a model replied: text and tool calls
	Usage      *model.Tokens       `json:"usage,omitempty"`
	CostUSD    float64             `json:"cost_usd,omitempty"`
	Duration   int64               `json:"duration_ms,omitempty"`
	FirstToken int64               `json:"first_token_ms,omitempty"` // of a reply that streams
	Retry      *model.RetryEvent   `json:"retry,omitempty"`
	Guard      *GuardEvent         `json:"guard,omitempty"`
	Stop       *stop.Reason        `json:"stop_reason,omitempty"`
	Interrupt  *interrupt.Question `json:"interrupt,omitempty"`
	Totals     *Usage              `json:"totals,omitempty"`
}

// StepEvent is a step as events show it.
type StepEvent struct {
	ID       string      `json:"id"`
	Goal     string      `json:"goal"`
	Status   plan.Status `json:"status"`
	Attempts int         `json:"attempts,omitempty"`
	Result   string      `json:"result,omitempty"`
	Error    string      `json:"error,omitempty"`
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

// ReplaySink is a capability of a Sink that shows a run as a whole: when a run is
// resumed it hears, before anything new, what earlier sessions told.
type ReplaySink interface {
	Recall(Event)
}

// Repair is a way out that was taken where something went wrong.
type Repair string

// The repairs.
const (
	ReplyMended      Repair = "reply_mended"       // a reply that was no JSON as it stood was read all the same
	PlannerReasked   Repair = "planner_reasked"    // the planner, or the reflector, was asked again
	ExecutorReasked  Repair = "executor_reasked"   // so was the executor
	FinalizerReasked Repair = "finalizer_reasked"  // and the finalizer
	AnswerMended     Repair = "answer_mended"      // an answer that was no JSON as it stood was read all the same
	ArgumentsFixed   Repair = "arguments_repaired" // arguments that were malformed, or of another type, were repaired
	StepsDropped     Repair = "steps_dropped"      // a plan held steps that are done
	FellBack         Repair = "fallback"           // another llm was asked
	AnswerMissing    Repair = "answer_missing"     // the finalizer gave none: the steps' results stand for it
)
