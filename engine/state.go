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

// State is the state of a run. It is a value: Apply returns a new one.
type State struct {
	Question      string
	Parameters    map[string]any
	History       []memory.Interaction // earlier interactions of the conversation, oldest first
	Earlier       []memory.Interaction // steps of earlier runs of the conversation, oldest first
	Session       memory.SessionView   // session state at the start of the run
	Plan          plan.Plan
	Steps         []plan.StepRecord // started or skipped steps, in plan order
	Executed      int               // number of started steps
	Running       []plan.StepRecord // steps in progress
	Replans       int
	NoProgress    int
	Usage         Usage
	Reply         exprenv.Reply // last reply of a planning or graph node
	LastOutput    string        // output of the last working node, ignoring routers; for steps, that of the last in plan order
	Planner       string        // id of the planner of the current plan; "" = none
	Answer        *Answer
	HighestStepID int    // highest step number the engine assigned; ids are never reused
	ReplanRequest string // a guard's request for the next plan
	Warnings      []string
	Messages      []ConversationMessage
	Recaps        []Recap      // summaries of conversations
	Calls         []ToolCalled // finished tool calls, in delivery order

	UserMessages     []UserMessage // of the run, also in the state of a nested run; oldest first
	SeenMessages     int           // how many of them a model was sent
	ReviewedMessages int           // how many of them a planner or reflector was sent

	EndedSinceReview []string // ids of steps that ended since the last review of the plan
	LastEnded        string   // id of the last step that ended
	ended            []bool   // by plan index
}

// Answer is the final answer; Output is its value under output.schema.
type Answer struct {
	Text   string
	Output []byte
}

// Fact is something that happened in a run. The set is closed; Apply has the only switch.
type Fact interface{ fact() }

// The facts.
type (
	// HistoryRead has the conversation at the start of the run: its turns, and the steps
	// of its runs.
	HistoryRead struct{ Interactions, Steps []memory.Interaction }
	// SessionRead has the session state at the start of the run.
	SessionRead struct{ Session memory.SessionView }
	// PlanAccepted replaces the remaining steps. By is the node or human it comes from,
	// Planner the planner; "" = unchanged.
	PlanAccepted struct {
		Steps   []plan.Step
		By      string
		Planner string
		Replan  bool
	}
	// NodeReplied is the reply of a planner, a reflector or another graph node.
	NodeReplied struct {
		By         string
		Reply      exprenv.Reply
		LastTurn   bool // the node knew that it was the last turn
		RoutesOnly bool // the reply only selects an edge and is not an answer
	}
	// ReplanRequested is a guard's request for a new plan.
	ReplanRequested struct{ Message string }
	// StepStarted reports a started step.
	StepStarted struct {
		Step    plan.Step
		Attempt int
	}
	// StepEnded reports an ended step.
	StepEnded struct{ Record plan.StepRecord }
	// ModelCalled has the usage of a model call.
	ModelCalled struct {
		Model   string
		Tokens  model.Tokens
		Cost    float64
		Latency time.Duration // as the provider measured it; 0 = unknown
	}
	// Embedded has the usage of embeddings made for a tool. It counts tokens and cost,
	// but no model calls.
	Embedded struct {
		Model  string
		Tokens model.Tokens
		Cost   float64
	}
	// ToolCalled reports a finished tool call; Step is the id of its step, or "".
	ToolCalled struct {
		Step   string
		Record tool.Record
	}
	// Answered sets the answer.
	Answered struct{ Answer Answer }
	// WarningAdded adds a warning to the result. Repair is how the run recovered, if it
	// did.
	WarningAdded struct {
		Text   string
		Repair Repair
	}
	// MessagesAdded adds messages to the conversation in the result, after their system
	// prompt if the conversation lacks it.
	MessagesAdded struct {
		System   model.Text
		Messages []model.Message
		Path     string // set by Scope.Record
	}
	// MessageReceived is a message from a user.
	MessageReceived struct{ Message UserMessage }
	// MessagesSeen reports how many of the user's messages a model was sent. Reviewed: as
	// planner or reflector.
	MessagesSeen struct {
		Count    int
		Reviewed bool
	}
	// Summarized reports that the start of a conversation was summarized.
	Summarized struct{ Recap Recap }
)

func (HistoryRead) fact()     {}
func (SessionRead) fact()     {}
func (PlanAccepted) fact()    {}
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
func (MessageReceived) fact() {}
func (MessagesSeen) fact()    {}
func (Summarized) fact()      {}

// Apply returns the state after f.
func (s State) Apply(f Fact) State {
	s.Add(f)
	return s
}

// Add applies f to s. Copies of s do not change.
func (s *State) Add(f Fact) {
	switch f := f.(type) {
	case HistoryRead:
		s.History, s.Earlier = f.Interactions, f.Steps
	case SessionRead:
		s.Session = f.Session
	case PlanAccepted:
		s.acceptPlan(f)
	case NodeReplied:
		s.applyReply(f)
	case ReplanRequested:
		s.ReplanRequest = f.Message
	case StepStarted:
		s.beginStep(f)
	case StepEnded:
		s.endStep(f.Record)
	case ModelCalled:
		s.Usage = s.Usage.add(1, f.Tokens, f.Cost)
		s.Usage.LatencyMS += Milliseconds(f.Latency)
	case Embedded:
		s.Usage = s.Usage.add(0, f.Tokens, f.Cost)
	case ToolCalled:
		s.addCall(f)
	case Answered:
		s.Answer = &f.Answer
	case WarningAdded:
		s.Warnings = append(slices.Clip(s.Warnings), f.Text)
	case MessagesAdded:
		s.addMessages(f)
	case MessageReceived:
		s.UserMessages = append(slices.Clip(s.UserMessages), f.Message)
	case MessagesSeen:
		s.markSeen(f)
	case Summarized:
		s.Recaps = append(slices.Clip(s.Recaps), f.Recap)
	}
}

// addMessages adds messages to the conversation.
func (s *State) addMessages(f MessagesAdded) {
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
}

// acceptPlan keeps the steps that are done, in order, and appends those of f.
func (s *State) acceptPlan(f PlanAccepted) {
	done := make([]plan.Step, 0, len(s.Steps)+len(f.Steps))
	for i := range s.Plan.Steps {
		if s.stepEnded(i) {
			done = append(done, s.Plan.Steps[i])
		}
	}
	for _, st := range f.Steps {
		if n, err := strconv.Atoi(strings.TrimPrefix(st.ID, "s")); err == nil {
			s.HighestStepID = max(s.HighestStepID, n)
		}
	}
	s.ended = make([]bool, len(done)+len(f.Steps))
	for i := range done {
		s.ended[i] = true
	}
	s.Plan = plan.Plan{Version: s.Plan.Version + 1, Steps: append(done, f.Steps...)}
	if f.Planner != "" {
		s.Planner = f.Planner
	}
	if f.Replan {
		s.Replans++
	}
}

// beginStep records a started step; another attempt is not another step.
func (s *State) beginStep(f StepStarted) {
	rec := plan.StepRecord{ID: f.Step.ID, Goal: f.Step.Goal, Status: plan.Running, Attempts: f.Attempt}
	if f.Attempt == 1 {
		s.Executed++
	} else if i := s.running(rec.ID); i >= 0 {
		rec.ToolCalls, rec.Usage.ToolCalls = s.Running[i].ToolCalls, s.Running[i].Usage.ToolCalls
	}
	s.Running = append(exceptStep(s.Running, rec.ID), rec)
}

// addCall counts a call and adds it to its running step, so that results of unfinished
// runs show it.
func (s *State) addCall(f ToolCalled) {
	s.Usage.ToolCalls++
	s.Calls = append(s.Calls, f)
	if i := s.running(f.Step); i >= 0 {
		s.Running = slices.Clone(s.Running)
		s.Running[i].ToolCalls = append(slices.Clip(s.Running[i].ToolCalls), f.Record)
		s.Running[i].Usage.ToolCalls++
	}
}

func (s *State) running(id string) int {
	return slices.IndexFunc(s.Running, func(r plan.StepRecord) bool { return r.ID == id })
}

// exceptStep returns a copy of the records without those of a step.
func exceptStep(recs []plan.StepRecord, id string) []plan.StepRecord {
	out := make([]plan.StepRecord, 0, len(recs)+1)
	for _, r := range recs {
		if r.ID != id {
			out = append(out, r)
		}
	}
	return out
}

func (s *State) endStep(r plan.StepRecord) {
	if i := s.running(r.ID); i >= 0 {
		r.Usage.ToolCalls += s.Running[i].Usage.ToolCalls
		s.Running = slices.Concat(s.Running[:i], s.Running[i+1:])
	}
	if r.Status == plan.OK && !s.sameResult(r) {
		s.NoProgress = 0
	} else if r.Status != plan.Skipped {
		s.NoProgress++
	}
	at := len(s.Steps) // plan order; steps that are not in the plan come last
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
	s.LastOutput = s.Steps[len(s.Steps)-1].Result
	s.EndedSinceReview, s.LastEnded = append(slices.Clip(s.EndedSinceReview), r.ID), r.ID
	if pos >= 0 && len(s.ended) == len(s.Plan.Steps) {
		s.ended = slices.Clone(s.ended)
		s.ended[pos] = true
	}
}

// applyReply records a reply and resets what happened since the last one.
func (s *State) applyReply(f NodeReplied) {
	s.Reply, s.ReplanRequest, s.EndedSinceReview = f.Reply, "", nil
	if !f.RoutesOnly || len(s.Steps) == 0 && s.LastOutput == "" {
		s.LastOutput = f.Reply.Text
	}
}

// sameResult reports whether an earlier step had the same result.
func (s *State) sameResult(r plan.StepRecord) bool {
	return r.Result != "" && slices.ContainsFunc(s.Steps, func(o plan.StepRecord) bool { return o.Result == r.Result })
}

// Position returns the index of a step in the plan, or -1.
func (s *State) Position(id string) int {
	return slices.IndexFunc(s.Plan.Steps, func(st plan.Step) bool { return st.ID == id })
}

// Done reports whether a step has ended.
func (s *State) Done(id string) bool {
	for i := range slices.Backward(s.Steps) {
		if s.Steps[i].ID == id {
			return true
		}
	}
	return false
}

// Record returns the record of an ended step.
func (s *State) Record(id string) (plan.StepRecord, bool) {
	for i := range slices.Backward(s.Steps) {
		if s.Steps[i].ID == id {
			return s.Steps[i], true
		}
	}
	return plan.StepRecord{}, false
}

// stepEnded reports whether the i-th step of the plan has ended.
func (s *State) stepEnded(i int) bool {
	if len(s.ended) == len(s.Plan.Steps) {
		return s.ended[i]
	}
	return s.Done(s.Plan.Steps[i].ID) // the plan was set without PlanTaken
}

// Remaining returns the plan's steps that have not ended, in plan order.
func (s *State) Remaining() []plan.Step {
	return slices.AppendSeq(make([]plan.Step, 0, max(0, len(s.Plan.Steps)-len(s.Steps))), s.Open())
}

// Open iterates over the plan's steps that have not ended, in plan order.
func (s *State) Open() iter.Seq[plan.Step] {
	return func(yield func(plan.Step) bool) {
		for i := range s.Plan.Steps {
			if !s.stepEnded(i) && !yield(s.Plan.Steps[i]) {
				return
			}
		}
	}
}

// HasOpenSteps reports whether a step remains.
func (s *State) HasOpenSteps() bool {
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

// Milliseconds returns d in whole milliseconds.
func Milliseconds(d time.Duration) int64 { return d.Milliseconds() }
