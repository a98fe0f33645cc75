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

// EventVersion is the version of the event schema. Fields are only ever added.
const EventVersion = 1

// EventType is the type of an event.
type EventType string

// The event types; see docs/reference/events.md.
const (
	RunStarted           EventType = "run.started"
	PlanCreated          EventType = "plan.created"
	StepStartedEvent     EventType = "step.started"
	ModelStarted         EventType = "model.started"
	ModelDelta           EventType = "model.delta"
	ModelRetrying        EventType = "model.retrying"
	ModelCompleted       EventType = "model.completed"
	ToolStarted          EventType = "tool.started"
	ToolProgress         EventType = "tool.progress"
	ToolRetrying         EventType = "tool.retrying"
	ToolCompleted        EventType = "tool.completed"
	ToolInterrupted      EventType = "tool.interrupted"
	StepCompleted        EventType = "step.completed"
	ReflectCompleted     EventType = "reflect.completed"
	GuardFired           EventType = "guard.fired"
	LimitReached         EventType = "limit.reached"
	InterruptRaised      EventType = "interrupt.raised"
	MessageReceivedEvent EventType = "message.received"
	RunSuspended         EventType = "run.suspended"
	RunCompleted         EventType = "run.completed"
	Warning              EventType = "warning"
)

// EventTypes are all event types, in the order of a run.
func EventTypes() []EventType {
	return []EventType{
		RunStarted, PlanCreated, StepStartedEvent, ModelStarted, ModelDelta, ModelRetrying, ModelCompleted, ToolStarted, ToolProgress, ToolRetrying,
		ToolCompleted, ToolInterrupted, StepCompleted, ReflectCompleted, GuardFired, LimitReached, InterruptRaised, MessageReceivedEvent, RunSuspended, RunCompleted, Warning,
	}
}

// Transient reports whether events of the type are not derived from the journal: they
// have no number, and At is the system clock.
func (t EventType) Transient() bool {
	switch t {
	case ModelDelta, ModelRetrying, ToolProgress, ToolRetrying, RunSuspended:
		return true
	default:
		return false
	}
}

// StatusFailed is the status of the event of a failed model call. A call that a message of the
// user ended has the status model.Interrupted instead.
const StatusFailed = "failed"

// StatusInterrupt is the status of the event of a message that ended the model calls under way.
const StatusInterrupt = "interrupt"

// Event is one line of the event stream, for humans and programs that observe a run.
// Events are derived from the journal and sent in order after their records are durable.
// Deltas, progress, retries and run.suspended are transient: they are sent as they
// happen, but never before the event that started their call. Fields below Agent are
// omitted if an event does not use them.
type Event struct {
	V   int `json:"v"`
	Seq int `json:"seq"` // number of the event in the run, from 1, across sessions; 0 for transient events
	// Rewinds is how often the limits of the run were raised before the event. A raise
	// voids the end of the run at its limit: events with the number of the first event
	// after it, or a higher one, and with fewer rewinds are void. 0 for transient events.
	Rewinds int `json:"rewinds,omitempty"`
	// At is the start of the run plus its active time, and the time until its last decision by a
	// human during which it was not active: so it is the same in every session and replay. The
	// journal has no time of a resume without a decision, so later events lag by that pause.
	At   time.Time `json:"at"`
	Run  string    `json:"run"`
	Type EventType `json:"type"`
	Path string    `json:"path,omitempty"` // path of the effect, step or node
	// Agent is the path of the nested agent in which it happened, whose plan and steps
	// are not the run's own; "" = the run itself.
	Agent string `json:"agent,omitempty"`

	ID       string     `json:"id,omitempty"` // of a user's message
	Spec     *SpecInfo  `json:"spec,omitempty"`
	Question string     `json:"question,omitempty"`
	Plan     *plan.Plan `json:"plan,omitempty"`
	By       string     `json:"by,omitempty"` // node or role it comes from; who sent a message
	Step     *StepEvent `json:"step,omitempty"`
	Model    string     `json:"model,omitempty"` // LLM of the spec
	Role     string     `json:"role,omitempty"`
	// Of model calls: the provider, the model that is requested and the one that replied, the
	// provider's id of the reply, and the requests sent if there was more than one.
	Provider      string            `json:"provider,omitempty"`
	RequestModel  string            `json:"request_model,omitempty"`
	ResponseModel string            `json:"response_model,omitempty"`
	ResponseID    string            `json:"response_id,omitempty"`
	Attempts      int               `json:"attempts,omitempty"`
	Tool          string            `json:"tool,omitempty"`
	CallID        string            `json:"call_id,omitempty"` // the model's id of a tool call
	Effect        tool.Effect       `json:"effect,omitempty"`  // of the tool
	Server        string            `json:"server,omitempty"`  // tools entry of the server that provides the tool
	Args          json.RawMessage   `json:"args,omitempty"`
	Repairs       []tool.ArgsRepair `json:"repairs,omitempty"` // how args differ from what the model wrote
	Status        string            `json:"status,omitempty"`
	Error         *CallError        `json:"error,omitempty"`   // of a failed model call
	Text          string            `json:"text,omitempty"`    // delta, progress, result, warning or message
	Message       *model.Message    `json:"message,omitempty"` // the model's reply: text and tool calls
	Usage         *model.Tokens     `json:"usage,omitempty"`
	CostUSD       float64           `json:"cost_usd,omitempty"`
	Duration      int64             `json:"duration_ms,omitempty"`
	// Latency is the duration of a model call as the provider measured it, without waiting for a
	// retry of the engine or a rate limit; of a step, the sum of its calls.
	Latency int64 `json:"latency_ms,omitempty"`
	// FirstToken is the time until the first token of a streamed reply; of a step, the longest.
	FirstToken int64               `json:"first_token_ms,omitempty"`
	Retry      *model.RetryEvent   `json:"retry,omitempty"`
	Guard      *GuardEvent         `json:"guard,omitempty"`
	Stop       *stop.Reason        `json:"stop_reason,omitempty"`
	Interrupt  *interrupt.Question `json:"interrupt,omitempty"`
	Totals     *Usage              `json:"totals,omitempty"`

	// For sinks of this process. They must not modify what these point to.
	Program *Program       `json:"-"` // of the run, or of the nested agent in which it happened
	Request *model.Request `json:"-"` // of model.started
	Reply   *model.Reply   `json:"-"` // of model.completed
	// Reserved is the tokens that a budget reserved for the call of model.completed.
	Reserved int `json:"-"`
	// Decisions are those that humans have made since the event before.
	Decisions []DecisionRecord `json:"-"`

	// Of tool.completed; nil = none. They are the requests of a call that was made to a server,
	// and the embeddings that it made.
	Remote   *tool.RemoteCall `json:"-"`
	Embedded *Embedded        `json:"-"`
	// Dimensions are those of the embeddings; 0 = none, or an earlier session made them.
	Dimensions int `json:"-"`
}

// CallError is why a model call failed.
type CallError struct {
	// Kind is a model.ErrorKind. It is "unknown" if the session of the call ended before the
	// reply was stored, and the code of the failure if the call was not made.
	Kind     model.ErrorKind `json:"kind"`
	Message  string          `json:"message"`
	Status   int             `json:"status,omitempty"`   // of the server's response; 0 = none
	Attempts int             `json:"attempts,omitempty"` // requests sent, if the model counts them
	Charged  bool            `json:"charged,omitempty"`  // a budget paid for it, since it may be billed
}

// StepEvent is a step in an event.
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
	Path    string      `json:"path"` // such as guards[0]
	At      GuardPlace  `json:"at"`
	Do      GuardAction `json:"do"`
	Message string      `json:"message,omitempty"`
}

// Sink receives the events of a run, one at a time; events of different runs may arrive
// concurrently. The run waits for Send, so it must not block for long.
type Sink interface {
	Send(Event)
}

// ReplaySink is a Sink that shows whole runs: when a run is resumed it first receives the
// events of earlier sessions.
type ReplaySink interface {
	Replay(Event)
}

// TraceSink is a Sink that exports a run as a trace. What the run calls receives the ids of its
// spans; see package tracecontext.
type TraceSink interface {
	// Sampled reports whether the trace is exported.
	Sampled() bool
}

// Repair is how a run recovered from a problem.
type Repair string

// The repairs.
const (
	ReplyRepaired    Repair = "reply_mended"       // a reply that was not valid JSON was repaired
	PlannerRetried   Repair = "planner_reasked"    // the planner or reflector was called again
	ExecutorRetried  Repair = "executor_reasked"   // the executor was called again
	FinalizerRetried Repair = "finalizer_reasked"  // the finalizer was called again
	AnswerRepaired   Repair = "answer_mended"      // an answer that was not valid JSON was repaired
	ArgumentsFixed   Repair = "arguments_repaired" // malformed or mistyped arguments were repaired
	StepsDropped     Repair = "steps_dropped"      // a plan contained steps that are done
	FellBack         Repair = "fallback"           // another LLM was used
	AnswerMissing    Repair = "answer_missing"     // the finalizer failed; the results of the steps are the answer
)
