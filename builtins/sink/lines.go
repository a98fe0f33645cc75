package sink

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
)

// Lines writes a plain line where something ended: for logs and CI. Safe for
// concurrent use.
type Lines struct {
	mu sync.Mutex
	w  io.Writer
	b  board
}

var _ engine.Sink = (*Lines)(nil)

// NewLines writes to w.
func NewLines(w io.Writer) *Lines { return &Lines{w: w} }

// lineWidth is where texts are cut: a log line is read, not wrapped.
const lineWidth = 160

// Send writes the lines of an event, if it has any.
func (l *Lines) Send(ev engine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.apply(ev)
	switch ev.Type {
	case engine.RunStarted:
		l.print("run %s: %s", ev.Run, oneLine(ev.Question, lineWidth))
	case engine.PlanCreated:
		l.plan(ev.Plan)
	case engine.StepCompleted:
		l.step(ev)
	case engine.ToolCompleted:
		l.tool(ev)
	case engine.GuardFired:
		l.print("guard %s: %s %s", ev.Guard.Name, ev.Guard.Do, oneLine(ev.Guard.Message, lineWidth))
	case engine.LimitReached:
		l.print("stopping: %s (%s)", oneLine(ev.Stop.Message, lineWidth), ev.Stop.Path)
	case engine.InterruptRaised:
		l.print("waiting for a person: %s %s %s", ev.Interrupt.Kind, ev.Tool, oneLine(string(ev.Args), lineWidth))
	case engine.Warning:
		l.print("warning: %s", oneLine(ev.Text, lineWidth))
	case engine.RunCompleted:
		l.print("%s: %s in %s, %s", ev.Status, ev.Stop.Code, span(time.Duration(ev.Duration)*time.Millisecond), tally(*ev.Totals))
	}
}

func (l *Lines) print(format string, args ...any) {
	fmt.Fprintf(l.w, format+"\n", args...) //nolint:errcheck // progress that nobody can read is not an error of the run
}

func (l *Lines) plan(p *engine.Plan) {
	open := 0
	for _, s := range l.b.steps {
		if s.status == "" {
			open++
		}
	}
	l.print("plan v%d: %s to do", p.Version, plural(open, "step"))
	for _, s := range l.b.steps {
		if s.status == "" {
			l.print("  %s %s", s.id, oneLine(s.goal, lineWidth))
		}
	}
}

func (l *Lines) step(ev engine.Event) {
	s := l.b.step(ev.Step.ID, ev.Step.Goal)
	line := fmt.Sprintf("%s %s (%s, %s tokens)", s.id, s.status, span(s.took), amount(s.tokens))
	if s.note != "" {
		line += ": " + oneLine(s.note, lineWidth)
	}
	l.print("%s", line)
}

func (l *Lines) tool(ev engine.Event) {
	id := ""
	if ev.Step != nil {
		id = ev.Step.ID + " "
	}
	line := fmt.Sprintf("  %s%s %s %s (%s)", id, ev.Tool, oneLine(argsText(string(ev.Args)), lineWidth/2), ev.Status, span(time.Duration(ev.Duration)*time.Millisecond))
	if ev.Status != string(engine.CallOK) {
		line += ": " + oneLine(ev.Text, lineWidth)
	}
	l.print("%s", line)
}
