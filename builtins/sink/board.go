package sink

import (
	"fmt"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
)

// board is what stands now, folded from events.
type board struct {
	spec    string
	version int
	steps   []stepRow
	saying  string // tail of the reply that streams
	role    string // who is asked now
	usage   engine.Usage
	started time.Time
}

// stepRow is one step of the plan.
type stepRow struct {
	id, goal string
	status   engine.StepStatus // "" = not started
	attempts int
	tools    []toolRow
	tokens   int
	began    time.Time
	took     time.Duration
	note     string
}

// toolRow is one tool call of a step.
type toolRow struct {
	name, args string
	status     string // "" = under way
	took       time.Duration
	note       string
}

// apply takes an event over.
func (b *board) apply(ev engine.Event) {
	switch ev.Type {
	case engine.RunStarted:
		b.started = ev.At
		if ev.Spec != nil {
			b.spec = ev.Spec.Name
		}
	case engine.PlanCreated:
		b.take(ev.Plan)
	case engine.StepStartedEvent:
		s := b.step(ev.Step.ID, ev.Step.Goal)
		s.status, s.attempts, s.began, s.goal = engine.StepRunning, ev.Step.Attempts, ev.At, ev.Step.Goal
	case engine.StepCompleted:
		s := b.step(ev.Step.ID, ev.Step.Goal)
		s.status, s.took, s.note = ev.Step.Status, time.Duration(ev.Duration)*time.Millisecond, ev.Step.Error
	case engine.ModelStarted:
		b.role, b.saying = ev.Role, ""
	case engine.ModelDelta:
		b.say(ev.Text)
	case engine.ModelCompleted:
		b.role, b.saying = "", ""
		b.count(ev)
	case engine.ToolStarted:
		if ev.Step != nil {
			s := b.step(ev.Step.ID, "")
			s.tools = append(s.tools, toolRow{name: ev.Tool, args: argsText(string(ev.Args))})
		}
	case engine.ToolCompleted:
		b.toolDone(ev)
	}
}

// take shows a new plan: steps that are done stay, the rest is replaced.
func (b *board) take(p *engine.Plan) {
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

func (b *board) say(text string) {
	const keep = 400
	b.saying += text
	if len(b.saying) > keep {
		b.saying = strings.ToValidUTF8(b.saying[len(b.saying)-keep:], "")
	}
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
	row := toolRow{name: ev.Tool, args: argsText(string(ev.Args)), status: ev.Status, took: time.Duration(ev.Duration) * time.Millisecond}
	if ev.Status != string(engine.CallOK) {
		row.note = ev.Text
	}
	for i := range s.tools {
		if t := &s.tools[i]; t.status == "" && t.name == row.name && t.args == row.args {
			*t = row
			return
		}
	}
	s.tools = append(s.tools, row) // it never started: an unknown name, a denial
}

// argsText is a call's arguments as people like to read them.
func argsText(args string) string {
	if args == "{}" {
		return ""
	}
	return args
}

// amount writes a count of tokens: 950, 1.2k, 3.4M.
func amount(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// span writes a duration: 12ms, 3.4s, 2m5s.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// tally is what was consumed, on one line.
func tally(u engine.Usage) string {
	s := fmt.Sprintf("%s, %s, %s tokens", plural(u.ModelCalls, "model call"), plural(u.ToolCalls, "tool call"), amount(u.Total()))
	if u.CostUSD > 0 {
		s += fmt.Sprintf(", $%.4f", u.CostUSD)
	}
	return s
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
