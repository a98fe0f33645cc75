package sink

import (
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// board is the current state of a run, derived from its events.
type board struct {
	spec    string
	version int // of the plan; 0 = no plan yet
	steps   []stepRow
	turns   []turn // model calls in flight, in the order they started
	usage   engine.Usage
	started time.Time
	whole   bool // keep the whole texts of model calls
}

// stepRow is one step of the plan.
type stepRow struct {
	id, goal string
	status   plan.Status // "" = not started
	attempts int
	tools    []toolRow
	tokens   int
	started  time.Time
	duration time.Duration
	result   string
	note     string // error or warning
}

// toolRow is one tool call of a step.
type toolRow struct {
	path, name, args string
	status           string // "" = in flight
	duration         time.Duration
	note             string
	retry            *retry
}

// turn is one model call in flight.
type turn struct {
	path, role string
	step       string // "" = outside of steps
	text       string // streamed so far: the end of a text, or the start of JSON
	whole      string // the start of the text, if the board keeps it
	retry      *retry
}

// retry is a wait before a call is repeated.
type retry struct {
	model.RetryEvent
	until time.Time
}

// apply updates the state with an event.
func (b *board) apply(ev engine.Event) {
	switch ev.Type {
	case engine.RunStarted:
		b.started = ev.At
		if ev.Spec != nil {
			b.spec = ev.Spec.Name
		}
	case engine.PlanCreated:
		b.setPlan(ev.Plan)
	case engine.StepStartedEvent:
		s := b.step(ev.Step.ID, ev.Step.Goal)
		s.status, s.attempts, s.started, s.goal = plan.Running, ev.Step.Attempts, ev.At, ev.Step.Goal
	case engine.StepCompleted:
		b.stepDone(ev)
	case engine.ModelStarted:
		b.modelStarted(ev)
	case engine.ModelDelta:
		b.modelDelta(ev)
	case engine.ModelRetrying, engine.ToolRetrying:
		b.retrying(ev)
	case engine.ModelCompleted:
		b.turns = slices.DeleteFunc(b.turns, func(t turn) bool { return t.path == ev.Path })
		b.modelCompleted(ev)
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
	default: // changes nothing that is shown
	}
}

// setPlan replaces the plan; steps that ran before keep their state.
func (b *board) setPlan(p *plan.Plan) {
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
	s.status, s.duration = ev.Step.Status, milliseconds(ev.Duration)
	s.result, s.note = ev.Step.Result, ev.Step.Error
	b.turns = slices.DeleteFunc(b.turns, func(t turn) bool { return t.step == s.id }) // a call that the end of its step cancelled has no event of its own
}

func (b *board) modelStarted(ev engine.Event) {
	t := turn{path: ev.Path, role: ev.Role}
	if ev.Step != nil {
		t.step = ev.Step.ID
	}
	if known := b.turn(ev.Path); known != nil { // a retry, or its deltas arrived first
		t.text = known.text
		*known = t
		return
	}
	b.turns = append(b.turns, t)
}

// turn returns the model call in flight with the path, nil if there is none.
func (b *board) turn(path string) *turn {
	i := slices.IndexFunc(b.turns, func(t turn) bool { return t.path == path })
	if i < 0 {
		return nil
	}
	return &b.turns[i]
}

func (b *board) modelDelta(ev engine.Event) {
	const tail, most = 400, 64 << 10
	t := b.turn(ev.Path)
	if t == nil {
		return // the call has already ended
	}
	t.retry = nil
	if b.whole && len(t.whole) < most {
		t.whole += ev.Text
	}
	t.text += ev.Text
	if json, ok := jsonIn(t.text); ok {
		t.text = text.Head(json, most)
		return
	}
	t.text = text.Tail(t.text, tail)
}

// retrying records the wait in its call.
func (b *board) retrying(ev engine.Event) {
	r := &retry{*ev.Retry, ev.At.Add(milliseconds(ev.Retry.Wait))}
	if t := b.turn(ev.Path); t != nil {
		t.text, t.whole, t.retry = "", "", r // the next attempt starts over
	} else if t := b.toolCall(ev.Path); t != nil {
		t.retry = r
	}
}

// waits reports whether the call of a retry is on the board.
func (b *board) waits(ev engine.Event) bool {
	return b.turn(ev.Path) != nil || b.toolCall(ev.Path) != nil
}

// toolCall returns the tool call in flight with the path, nil if there is none.
func (b *board) toolCall(path string) *toolRow {
	for i := range b.steps {
		for j := range b.steps[i].tools {
			if t := &b.steps[i].tools[j]; t.status == "" && t.path == path {
				return t
			}
		}
	}
	return nil
}

func (b *board) modelCompleted(ev engine.Event) {
	if ev.Error != nil {
		return
	}
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
	row := toolRow{path: ev.Path, name: ev.Tool, args: argsText(ev.Args), status: ev.Status, duration: milliseconds(ev.Duration)}
	if ev.Status != string(tool.CallOK) {
		row.note = ev.Text
	}
	if t := b.toolCall(row.path); t != nil {
		*t = row
		return
	}
	s.tools = append(s.tools, row) // never started: the tool is unknown, or the call was denied
}

// done returns the number of steps that ended.
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
