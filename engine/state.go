package engine

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

// State is what a run knows of itself. It is a value: Apply returns the next
// one and leaves the old one as it was.
type State struct {
	Question   string
	Parameters map[string]any
	History    []memory.Interaction // earlier interactions of the conversation, oldest first
	Earlier    []memory.Interaction // steps of earlier runs of the conversation, oldest first
	Session    memory.SessionView   // what the conversation's tools kept when the run began
	Plan       plan.Plan
	Steps      []plan.StepRecord // started or skipped steps, in plan order
	Executed   int               // steps started
	Running    []plan.StepRecord // steps that have begun and not ended
	Replans    int
	NoProgress int
	Usage      Usage
	Reply      exprenv.Reply // what the last planning or graph node said
	Words      string        // what the last node that works gave, a router's choice left aside: of steps, that of the last in plan order
	Planner    string        // id of the planner whose plan it is; "" = none has planned
	Answer     *Answer
	Numbered   int    // the highest number the engine gave a step: ids are never used again
	Urge       string // what a guard wants of the next plan
	Warnings   []string
	Messages   []ConversationMessage
	Recaps     []Recap      // summaries made of conversations
	Calls      []ToolCalled // tool calls that ended, in delivery order

	Fresh []string // ids of steps that ended since the plan was last looked at
	Last  string   // id of the last step to end
	ended []bool   // of each step of the plan
}

// Answer is the run's final answer; Output is its value under output.schema.
type Answer struct {
	Text   string
	Output []byte
}

// Fact is one thing that happened in a run. The set is closed; Apply has its
// only switch.
type Fact interface{ fact() }

// The facts.
type (
	// HistoryRead says what the conversation held when the run began: its turns,
	// and the steps of its runs.
	HistoryRead struct{ Interactions, Steps []memory.Interaction }
	// SessionRead says what the conversation's tools kept when the run began.
	SessionRead struct{ Session memory.SessionView }
	// PlanTaken says that a plan's remaining steps were taken over. By is the
	// node or person it came from, Planner the planner that made it; "" = what is
	// taken over is still the plan of the planner before.
	PlanTaken struct {
		Steps   []plan.Step
		By      string
		Planner string
		Replan  bool
	}
	// NodeReplied says what a planner, a reflector or another graph node answered.
	NodeReplied struct {
		By    string
		Reply exprenv.Reply
		Last  bool // the node was told that it was the last turn
		Chose bool // it is where the graph goes on, and nothing for whoever asked
	}
	// ReplanRequested says that a guard wants a new plan, and why.
	ReplanRequested struct{ Message string }
	// StepStarted says that a step runs.
	StepStarted struct {
		Step    plan.Step
		Attempt int
	}
	// StepEnded says how a step ended.
	StepEnded struct{ Record plan.StepRecord }
	// ModelCalled says what a model call consumed.
	ModelCalled struct {
		Model  string
		Tokens model.Tokens
		Cost   float64
	}
	// Embedded says what vectors consumed that a tool had an llm make in a call.
	// They are tokens and cost of the run, and no model calls: nobody answered.
	Embedded struct {
		Model  string
		Tokens model.Tokens
		Cost   float64
	}
	// ToolCalled says what became of a tool call; Step is the id of the step that
	// made it, "" outside of any.
	ToolCalled struct {
		Step   string
		Record tool.Record
	}
	// Answered says what the run answers.
	Answered struct{ Answer Answer }
	// WarningAdded adds a warning to the result. Repair says which way out was taken
	// where something went wrong; "" = the warning is of something else.
	WarningAdded struct {
		Text   string
		Repair Repair
	}
	// MessagesAdded adds messages to the conversation a result can include, behind the
	// system prompt they were sent with where the conversation lacks it.
	MessagesAdded struct {
		System   model.Text
		Messages []model.Message
		Path     string // set by Scope.Record
	}
	// Summarized says that the beginning of a conversation was summed up.
	Summarized struct{ Recap Recap }
)

func (HistoryRead) fact()     {}
func (SessionRead) fact()     {}
func (PlanTaken) fact()       {}
func (NodeReplied) fact()     {}
func (ReplanRequested) fact() {}
func (StepStarted) fact()     {}
func (StepEnded) fact()       {}
func (ModelCalled) fact()     {}
func (Embedded) fact()        {}
func (ToolCalled) fact()      {}
func (Answered) fact()        {}
func (WarningAdded) fact()    {}
func (MessagesAdded) fact()   {}
func (Summarized) fact()      {}

// Apply returns the state after f.
func (s State) Apply(f Fact) State {
	switch f := f.(type) {
	case HistoryRead:
		s.History, s.Earlier = f.Interactions, f.Steps
	case SessionRead:
		s.Session = f.Session
	case PlanTaken:
		s = s.takePlan(f)
	case NodeReplied:
		s = s.hear(f)
	case ReplanRequested:
		s.Urge = f.Message
	case StepStarted:
		s = s.begin(f)
	case StepEnded:
		s = s.endStep(f.Record)
	case ModelCalled:
		s.Usage = s.Usage.add(1, f.Tokens, f.Cost)
	case Embedded:
		s.Usage = s.Usage.add(0, f.Tokens, f.Cost)
	case ToolCalled:
		s = s.call(f)
	case Answered:
		s.Answer = &f.Answer
	case WarningAdded:
		s.Warnings = append(slices.Clip(s.Warnings), f.Text)
	case MessagesAdded:
		s = s.converse(f)
	case Summarized:
		s.Recaps = append(slices.Clip(s.Recaps), f.Recap)
	}
	return s
}

// converse adds messages to the conversation.
func (s State) converse(f MessagesAdded) State {
	system := f.System.String()
	known := system == "" || slices.ContainsFunc(s.Messages, func(m ConversationMessage) bool {
		return m.Role == model.System && m.Text.String() == system
	})
	if !known {
		s.Messages = append(s.Messages, ConversationMessageOf(model.Message{Role: model.System, Text: f.System}, f.Path))
	}
	for _, m := range f.Messages {
		s.Messages = append(s.Messages, ConversationMessageOf(m, f.Path))
	}
	return s
}

// takePlan keeps the steps that are done, in order, and puts f's behind them.
func (s State) takePlan(f PlanTaken) State {
	kept := make([]plan.Step, 0, len(s.Steps)+len(f.Steps))
	for i := range s.Plan.Steps {
		if s.over(i) {
			kept = append(kept, s.Plan.Steps[i])
		}
	}
	for _, st := range f.Steps {
		if n, err := strconv.Atoi(strings.TrimPrefix(st.ID, "s")); err == nil {
			s.Numbered = max(s.Numbered, n)
		}
	}
	s.ended = make([]bool, len(kept)+len(f.Steps))
	for i := range kept {
		s.ended[i] = true
	}
	s.Plan = plan.Plan{Version: s.Plan.Version + 1, Steps: append(kept, f.Steps...)}
	if f.Planner != "" {
		s.Planner = f.Planner
	}
	if f.Replan {
		s.Replans++
	}
	return s
}

// begin notes a step that runs; a further attempt of it is not a further step.
func (s State) begin(f StepStarted) State {
	rec := plan.StepRecord{ID: f.Step.ID, Goal: f.Step.Goal, Status: plan.Running, Attempts: f.Attempt}
	if f.Attempt == 1 {
		s.Executed++
	} else if i := s.running(rec.ID); i >= 0 {
		rec.ToolCalls, rec.Usage.ToolCalls = s.Running[i].ToolCalls, s.Running[i].Usage.ToolCalls
	}
	s.Running = append(without(s.Running, rec.ID), rec)
	return s
}

// call counts a call, and notes it with the step that runs: of a run that waits
// or was suspended, that is all there is to show of the step.
func (s State) call(f ToolCalled) State {
	s.Usage.ToolCalls++
	s.Calls = append(s.Calls, f)
	if i := s.running(f.Step); i >= 0 {
		s.Running = slices.Clone(s.Running)
		s.Running[i].ToolCalls = append(slices.Clip(s.Running[i].ToolCalls), f.Record)
		s.Running[i].Usage.ToolCalls++
	}
	return s
}

func (s State) running(id string) int {
	return slices.IndexFunc(s.Running, func(r plan.StepRecord) bool { return r.ID == id })
}

// without is the records of other steps; never the slice itself.
func without(recs []plan.StepRecord, id string) []plan.StepRecord {
	out := make([]plan.StepRecord, 0, len(recs)+1)
	for _, r := range recs {
		if r.ID != id {
			out = append(out, r)
		}
	}
	return out
}

func (s State) endStep(r plan.StepRecord) State {
	if i := s.running(r.ID); i >= 0 {
		r.Usage.ToolCalls += s.Running[i].Usage.ToolCalls
		s.Running = without(s.Running, r.ID)
	}
	if r.Status == plan.OK && !s.repeats(r) {
		s.NoProgress = 0
	} else if r.Status != plan.Skipped {
		s.NoProgress++
	}
	at := len(s.Steps) // plan order; what is not of the plan comes as it ends
	pos := s.Position(r.ID)
	for i := at - 1; i >= 0 && pos >= 0; i-- {
		other := s.Position(s.Steps[i].ID)
		if other >= 0 && other < pos {
			break
		}
		if other > pos {
			at = i
		}
	}
	steps := make([]plan.StepRecord, 0, len(s.Steps)+1)
	s.Steps = append(append(append(steps, s.Steps[:at]...), r), s.Steps[at:]...)
	s.Words = s.Steps[len(s.Steps)-1].Result
	s.Fresh, s.Last = append(slices.Clip(s.Fresh), r.ID), r.ID
	if pos >= 0 && len(s.ended) == len(s.Plan.Steps) {
		s.ended = slices.Clone(s.ended)
		s.ended[pos] = true
	}
	return s
}

// hear takes over a reply; what happened before it is no longer fresh.
func (s State) hear(f NodeReplied) State {
	s.Reply, s.Urge, s.Fresh = f.Reply, "", nil
	if !f.Chose || len(s.Steps) == 0 && s.Words == "" {
		s.Words = f.Reply.Text
	}
	return s
}

// repeats says that an earlier step gave the same result.
func (s State) repeats(r plan.StepRecord) bool {
	return r.Result != "" && slices.ContainsFunc(s.Steps, func(o plan.StepRecord) bool { return o.Result == r.Result })
}

// Position is the index of a step in the plan, or -1.
func (s State) Position(id string) int {
	return slices.IndexFunc(s.Plan.Steps, func(st plan.Step) bool { return st.ID == id })
}

// Done says whether a step has ended.
func (s *State) Done(id string) bool {
	for i := range slices.Backward(s.Steps) {
		if s.Steps[i].ID == id {
			return true
		}
	}
	return false
}

// Record returns what became of a step.
func (s State) Record(id string) (plan.StepRecord, bool) {
	for i := range slices.Backward(s.Steps) {
		if s.Steps[i].ID == id {
			return s.Steps[i], true
		}
	}
	return plan.StepRecord{}, false
}

// over says whether the i-th step of the plan has ended.
func (s *State) over(i int) bool {
	if len(s.ended) == len(s.Plan.Steps) {
		return s.ended[i]
	}
	return s.Done(s.Plan.Steps[i].ID) // a plan that was not taken but given
}

// Remaining returns the plan's steps that have not ended, in plan order.
func (s State) Remaining() []plan.Step {
	return slices.AppendSeq(make([]plan.Step, 0, max(0, len(s.Plan.Steps)-len(s.Steps))), s.Open())
}

// Open goes over the plan's steps that have not ended, in plan order.
func (s State) Open() iter.Seq[plan.Step] {
	return func(yield func(plan.Step) bool) {
		for i := range s.Plan.Steps {
			if !s.over(i) && !yield(s.Plan.Steps[i]) {
				return
			}
		}
	}
}

// AnyOpen says whether a step remains.
func (s State) AnyOpen() bool {
	for range s.Open() {
		return true
	}
	return false
}

func (u Usage) add(calls int, t model.Tokens, usd float64) Usage {
	u.ModelCalls += calls
	u.Tokens = u.Tokens.Plus(t)
	u.CostUSD += usd
	return u
}

// Milliseconds is a duration as results show it, in whole ones.
func Milliseconds(d time.Duration) int64 { return d.Milliseconds() }
