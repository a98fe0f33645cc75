package turn

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// Turn is what has happened in a run. Plans and steps of nested agents are not part of it;
// their questions are.
type Turn struct {
	Run      string
	Question string
	Began    time.Time
	At       time.Time // of the last numbered event
	Seq      int       // number of that event
	Steps    []Step    // of the plan in effect
	Plans    int       // version of the plan in effect; 0 = none
	Calls    []Call    // of tools, in the order in which they started
	Open     []interrupt.Question
	Answer   string         // once the run has ended
	Status   stop.RunStatus // "" until the run has ended
	Stop     stop.Reason    // why it ended
	Usage    engine.Usage   // once it has ended

	requested []string // paths of calls that a model requested, and of which there is no event yet
}

// Step is a step of the plan.
type Step struct {
	ID     string
	Goal   string
	Status plan.Status // "" = not started
	Result string
	Error  string
}

// Call is a call of a tool.
type Call struct {
	ID     string // path of the effect, unique within the run
	Step   string // id
	Tool   string
	Args   json.RawMessage
	Asked  bool   // it needs approval
	Status string // "" = in progress; ok, or why it failed
	Text   string // result or error
}

// Done reports whether the call has ended.
func (c *Call) Done() bool { return c.Status != "" }

// OK reports whether the call has succeeded.
func (c *Call) OK() bool { return c.Status == "ok" }

// Kind is the kind of a change.
type Kind int

// The kinds of changes, and the fields of Change that each sets.
const (
	Started      Kind = iota + 1 // the run has started
	Planned                      // a plan is in effect: Turn.Steps
	StepStarted                  // Step
	StepEnded                    // Step
	CallStarted                  // Call
	CallProgress                 // Call, Text; transient
	CallEnded                    // Call
	Delta                        // a part of a model's reply: Text, Role; transient
	Asked                        // a question is open: Question
	Received                     // a user sent a message: Text
	Noted                        // a guard fired, a limit stops the run, or a repair was applied: Text
	Paused                       // the session has ended, the run has not; Text is its status
	Ended                        // the run has ended: Turn.Status, Answer, Stop and Usage
)

// Change is one change of a Turn.
type Change struct {
	Kind     Kind
	Seq      int // number of the event; 0 = transient
	At       time.Time
	Path     string
	Step     *Step
	Call     *Call
	Question *interrupt.Question
	Role     string // of the model
	Text     string
}

// Apply adds an event to the turn. It returns false if the event changes nothing that a
// conversation shows.
func (t *Turn) Apply(ev *engine.Event) (c Change, ok bool) {
	c = Change{Seq: ev.Seq, At: ev.At, Path: ev.Path, Role: ev.Role, Text: ev.Text}
	if ev.Seq > 0 {
		t.At, t.Seq = ev.At, ev.Seq
		t.close(ev)
		t.requested = slices.DeleteFunc(t.requested, func(path string) bool {
			return path == ev.Path || ev.Type == engine.StepCompleted && strings.HasPrefix(path, ev.Path+"/")
		})
	}
	if ev.Type == engine.InterruptRaised && ev.Interrupt != nil {
		q := *ev.Interrupt
		t.Open = append(t.Open, q)
		if call := t.call(callOf(q.Path)); call != nil {
			call.Asked = true
		}
		c.Kind, c.Question = Asked, &q
		return c, true
	}
	if ev.Agent != "" {
		return c, false
	}
	switch ev.Type {
	case engine.RunStarted:
		t.Run, t.Question, t.Began = ev.Run, ev.Question, ev.At
		c.Kind = Started
	case engine.PlanCreated:
		c.Kind = Planned
		t.setPlan(ev.Plan)
	case engine.StepStartedEvent, engine.StepCompleted:
		c.Kind, c.Step = StepStarted, t.setStep(ev.Step)
		if ev.Type == engine.StepCompleted {
			c.Kind = StepEnded
		}
	case engine.ToolStarted, engine.ToolInterrupted, engine.ToolProgress, engine.ToolCompleted:
		return t.applyCall(ev, c)
	case engine.ModelDelta:
		c.Kind = Delta
	case engine.ModelCompleted:
		t.request(ev)
		return c, false
	case engine.MessageReceivedEvent:
		c.Kind = Received
	case engine.GuardFired:
		c.Kind = Noted
		if ev.Guard != nil {
			c.Text = ev.Guard.Message
		}
	case engine.LimitReached:
		c.Kind = Noted
		if ev.Stop != nil {
			c.Text = ev.Stop.Message
		}
	case engine.Warning:
		c.Kind = Noted
	case engine.RunCompleted:
		c.Kind = Ended
		t.end(ev)
	default:
		return c, false
	}
	return c, true
}

// close closes the question that an event answers: the next event of its call, or the end.
func (t *Turn) close(ev *engine.Event) {
	if ev.Type == engine.RunCompleted {
		t.Open = nil
		return
	}
	t.Open = slices.DeleteFunc(t.Open, func(q interrupt.Question) bool { return ev.Path != "" && ev.Path == callOf(q.Path) })
}

// CallOf returns the path of the call, or of the plan, that a question is about.
func CallOf(q interrupt.Question) string { return callOf(q.Path) }

func callOf(path string) string {
	for _, suffix := range []string{".approval", "/approval", ".ask", "/ask"} {
		if i := strings.LastIndex(path, suffix); i >= 0 {
			return path[:i]
		}
	}
	return path
}

// WaitsFor reports whether nothing but answers to open questions is in progress, as far as
// the events show. A run with further steps or calls in progress may ask more.
func (t *Turn) WaitsFor(open []interrupt.Question) bool {
	asks := func(path string) bool {
		return slices.ContainsFunc(open, func(q interrupt.Question) bool { return callOf(q.Path) == path || strings.HasPrefix(q.Path, path+"/") })
	}
	busy := slices.ContainsFunc(t.requested, func(path string) bool { return !asks(path) }) ||
		slices.ContainsFunc(t.Calls, func(c Call) bool { return !c.Done() && !asks(c.ID) }) ||
		slices.ContainsFunc(t.Steps, func(s Step) bool { return s.Status == plan.Running && !asks("step."+s.ID) })
	return len(open) > 0 && !busy
}

func (t *Turn) setPlan(p *plan.Plan) {
	if p == nil {
		return
	}
	t.Plans = p.Version
	was := t.Steps
	t.Steps = nil
	for _, s := range p.Steps {
		step := Step{ID: s.ID, Goal: s.Goal}
		if i := slices.IndexFunc(was, func(old Step) bool { return old.ID == s.ID }); i >= 0 {
			step.Status, step.Result, step.Error = was[i].Status, was[i].Result, was[i].Error
		}
		t.Steps = append(t.Steps, step)
	}
}

func (t *Turn) setStep(ev *engine.StepEvent) *Step {
	if ev == nil {
		return &Step{}
	}
	step := Step{ID: ev.ID, Goal: ev.Goal, Status: ev.Status, Result: ev.Result, Error: ev.Error}
	if i := slices.IndexFunc(t.Steps, func(s Step) bool { return s.ID == ev.ID }); i >= 0 {
		t.Steps[i] = step
	} else {
		t.Steps = append(t.Steps, step)
	}
	return &step
}

// request adds the calls that a model requests.
func (t *Turn) request(ev *engine.Event) {
	dir, name := path.Split(ev.Path)
	if name, _, _ = strings.Cut(name, "."); name != "model" || ev.Message == nil {
		return
	}
	base := strings.TrimSuffix(dir, "/")
	for i := range ev.Message.Calls {
		t.requested = append(t.requested, base+"/tool."+strconv.Itoa(i))
	}
}

// applyCall adds an event of a tool call. A call that is rejected has no start event, so the
// first event of a call counts as its start.
func (t *Turn) applyCall(ev *engine.Event, c Change) (Change, bool) {
	call := t.call(ev.Path)
	if call == nil {
		if ev.Seq == 0 {
			return c, false
		}
		t.Calls = append(t.Calls, Call{ID: ev.Path, Tool: ev.Tool})
		call = &t.Calls[len(t.Calls)-1]
		if ev.Step != nil {
			call.Step = ev.Step.ID
		}
	}
	if len(ev.Args) > 0 {
		call.Args = ev.Args
	}
	switch ev.Type {
	case engine.ToolProgress:
		c.Kind = CallProgress
	case engine.ToolCompleted:
		c.Kind = CallEnded
		call.Status, call.Text = ev.Status, ev.Text
	case engine.ToolInterrupted:
		call.Asked = true
		return c, false
	default:
		c.Kind = CallStarted
	}
	shown := *call
	c.Call = &shown
	return c, true
}

func (t *Turn) call(id string) *Call {
	i := slices.IndexFunc(t.Calls, func(c Call) bool { return c.ID == id })
	if i < 0 {
		return nil
	}
	return &t.Calls[i]
}

func (t *Turn) end(ev *engine.Event) {
	t.Status, t.Answer = stop.RunStatus(ev.Status), ev.Text
	if ev.Stop != nil {
		t.Stop = *ev.Stop
	}
	if ev.Totals != nil {
		t.Usage = *ev.Totals
	}
}
