package sink

import (
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// board is what stands now, folded from events.
type board struct {
	spec    string
	version int
	steps   []stepRow
	turns   []turn // model calls under way, in the order they began
	usage   engine.Usage
	began   time.Time
}

// stepRow is one step of the plan.
type stepRow struct {
	id, goal string
	status   plan.Status // "" = not started
	attempts int
	tools    []toolRow
	tokens   int
	began    time.Time
	took     time.Duration
	result   string
	note     string // what went wrong
}

// toolRow is one tool call of a step.
type toolRow struct {
	path, name, args string
	status           string // "" = under way
	took             time.Duration
	note             string
}

// turn is one model call under way.
type turn struct {
	path, role string
	step       string // "" = outside of steps
	saying     string // the end of what streamed so far
}

// apply takes an event over.
func (b *board) apply(ev engine.Event) {
	switch ev.Type {
	case engine.RunStarted:
		b.began = ev.At
		if ev.Spec != nil {
			b.spec = ev.Spec.Name
		}
	case engine.PlanCreated:
		b.take(ev.Plan)
	case engine.StepStartedEvent:
		s := b.step(ev.Step.ID, ev.Step.Goal)
		s.status, s.attempts, s.began, s.goal = plan.Running, ev.Step.Attempts, ev.At, ev.Step.Goal
	case engine.StepCompleted:
		b.stepDone(ev)
	case engine.ModelStarted:
		b.ask(ev)
	case engine.ModelDelta:
		b.say(ev)
	case engine.ModelCompleted:
		b.turns = slices.DeleteFunc(b.turns, func(t turn) bool { return t.path == ev.Path })
		b.count(ev)
	case engine.ToolStarted:
		if ev.Step != nil {
			s := b.step(ev.Step.ID, "")
			s.tools = append(s.tools, toolRow{path: ev.Path, name: ev.Tool, args: argsText(ev.Args)})
		}
	case engine.ToolCompleted:
		b.toolDone(ev)
	case engine.RunCompleted:
		b.turns = nil
		if ev.Totals != nil {
			b.usage = *ev.Totals
		}
	default: // nothing that stands
	}
}

// take shows a new plan: steps that are done stay, the rest is replaced.
func (b *board) take(p *plan.Plan) {
	if p == nil {
		return
	}
	b.version = p.Version
	known := map[string]stepRow{}
	for _, s := range b.steps {
		known[s.id] = s
	}
	b.steps = make([]stepRow, 0, len(p.Steps))
	for _, st := range p.Steps {
		row, ok := known[st.ID]
		if !ok {
			row = stepRow{id: st.ID, goal: st.Goal}
		}
		b.steps = append(b.steps, row)
	}
}

func (b *board) step(id, goal string) *stepRow {
	for i := range b.steps {
		if b.steps[i].id == id {
			return &b.steps[i]
		}
	}
	b.steps = append(b.steps, stepRow{id: id, goal: goal})
	return &b.steps[len(b.steps)-1]
}

func (b *board) stepDone(ev engine.Event) {
	s := b.step(ev.Step.ID, ev.Step.Goal)
	s.status, s.took = ev.Step.Status, milliseconds(ev.Duration)
	s.result, s.note = ev.Step.Result, ev.Step.Error
	b.turns = slices.DeleteFunc(b.turns, func(t turn) bool { return t.step == s.id }) // a call that failed has no end of its own
}

func (b *board) ask(ev engine.Event) {
	t := turn{path: ev.Path, role: ev.Role}
	if ev.Step != nil {
		t.step = ev.Step.ID
	}
	for i := range b.turns {
		if b.turns[i].path == t.path { // asked again, or its deltas were faster
			t.saying = b.turns[i].saying
			b.turns[i] = t
			return
		}
	}
	b.turns = append(b.turns, t)
}

func (b *board) say(ev engine.Event) {
	const keep = 400
	i := slices.IndexFunc(b.turns, func(t turn) bool { return t.path == ev.Path })
	if i < 0 {
		return // it began before its event, or is over
	}
	t := &b.turns[i]
	t.saying = text.Tail(t.saying+ev.Text, keep)
}

func (b *board) count(ev engine.Event) {
	b.usage.ModelCalls++
	if ev.Usage == nil {
		return
	}
	b.usage.Input += ev.Usage.Input
	b.usage.Output += ev.Usage.Output
	b.usage.CostUSD += ev.CostUSD
	if ev.Step != nil {
		b.step(ev.Step.ID, ev.Step.Goal).tokens += ev.Usage.Total()
	}
}

func (b *board) toolDone(ev engine.Event) {
	b.usage.ToolCalls++
	if ev.Step == nil {
		return
	}
	s := b.step(ev.Step.ID, "")
	row := toolRow{path: ev.Path, name: ev.Tool, args: argsText(ev.Args), status: ev.Status, took: milliseconds(ev.Duration)}
	if ev.Status != string(tool.CallOK) {
		row.note = ev.Text
	}
	for i := range s.tools {
		if t := &s.tools[i]; t.status == "" && t.path == row.path {
			*t = row
			return
		}
	}
	s.tools = append(s.tools, row) // it never started: an unknown name, a denial
}

// done counts the steps that ended.
func (b *board) done() int {
	n := 0
	for i := range b.steps {
		if s := b.steps[i].status; s != "" && s != plan.Running {
			n++
		}
	}
	return n
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
