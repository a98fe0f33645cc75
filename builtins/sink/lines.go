package sink

import (
	"fmt"
	"io"
	"sync"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// Lines writes a plain line where something ended: for logs and CI. Safe for
// concurrent use.
type Lines struct {
	mu      sync.Mutex
	w       io.Writer
	b       board
	resumed bool // something was recalled, and not yet told
}

var (
	_ engine.Sink       = (*Lines)(nil)
	_ engine.ReplaySink = (*Lines)(nil)
)

// NewLines writes to w.
func NewLines(w io.Writer) *Lines { return &Lines{w: w} }

// lineWidth is where texts are cut: a log line is read, not wrapped.
const lineWidth = 160

// Recall takes over what an earlier session told. Its lines were written then;
// one line sums them up before the first of this session.
func (l *Lines) Recall(ev engine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ev, ok := outer(ev); ok {
		l.b.apply(ev)
		l.resumed = true
	}
}

// Send writes the lines of an event, if it has any.
func (l *Lines) Send(ev engine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resume()
	ev, ok := outer(ev)
	if !ok {
		return
	}
	l.b.apply(ev)
	switch ev.Type {
	case engine.RunStarted:
		l.print("run %s: %s", ev.Run, tty.OneLine(ev.Question, lineWidth))
	case engine.PlanCreated:
		l.plan()
	case engine.StepCompleted:
		l.step(l.b.step(ev.Step.ID, ev.Step.Goal))
	case engine.ToolCompleted:
		l.tool(ev)
	case engine.RunCompleted:
		l.print("%s", ending(ev, l.b.usage))
	default:
		if text := Remark(ev); text != "" {
			l.print("%s", tty.OneLine(text, 2*lineWidth))
		}
	}
}

// resume says what earlier sessions did, once.
func (l *Lines) resume() {
	if !l.resumed {
		return
	}
	l.resumed = false
	if l.b.version == 0 {
		l.print("resumed: no plan yet")
		return
	}
	l.print("resumed: %d of %s done", l.b.done(), text.Count(len(l.b.steps), "step"))
}

// Note writes a line of the program's own.
func (l *Lines) Note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resume()
	l.print("%s", text)
}

// print drops errors: progress that nobody can read is no failure of the run.
func (l *Lines) print(format string, args ...any) {
	fmt.Fprintln(l.w, tty.Safe(fmt.Sprintf(format, args...)))
}

func (l *Lines) plan() {
	l.print("plan v%d: %s to do", l.b.version, text.Count(len(l.b.steps)-l.b.done(), "step"))
	for i := range l.b.steps {
		if s := &l.b.steps[i]; s.status == "" {
			l.print("  %s %s", tty.Flat(s.id), tty.OneLine(s.goal, lineWidth))
		}
	}
}

func (l *Lines) step(s *stepRow) {
	line := fmt.Sprintf("%s %s (%s, %s tokens)", tty.Flat(s.id), s.status, tty.Span(s.took), tty.Amount(s.tokens))
	if s.note != "" {
		line += ": " + tty.OneLine(s.note, lineWidth)
	}
	l.print("%s", line)
}

func (l *Lines) tool(ev engine.Event) {
	line := "  "
	if ev.Step != nil {
		line += tty.Flat(ev.Step.ID) + " "
	}
	line += tty.OneLine(ev.Tool+" "+argsText(ev.Args), lineWidth/2)
	line += fmt.Sprintf(" %s (%s)", ev.Status, tty.Span(milliseconds(ev.Duration)))
	if ev.Status != string(tool.CallOK) {
		line += ": " + tty.OneLine(ev.Text, lineWidth)
	}
	l.print("%s", line)
}

// Remark is what an event tells beside plan, steps and tools; "" = nothing.
func Remark(ev engine.Event) string {
	switch ev.Type {
	case engine.GuardFired:
		return fmt.Sprintf("guard %s: %s %s", ev.Guard.Name, ev.Guard.Do, ev.Guard.Message)
	case engine.LimitReached:
		return fmt.Sprintf("stopping: %s (%s)", ev.Stop.Message, ev.Stop.Path)
	case engine.InterruptRaised:
		return fmt.Sprintf("waiting for a person: %s %s %s", ev.Interrupt.Kind, ev.Interrupt.Tool, argsText(ev.Interrupt.Args))
	case engine.ModelRetrying:
		return "llm " + ev.Model + ": " + retry(ev.Retry)
	case engine.ToolRetrying:
		return "tool " + ev.Tool + ": " + retry(ev.Retry)
	case engine.Warning:
		return "warning: " + ev.Text
	default:
		return ""
	}
}

// retry is a wait before a repeat.
func retry(e *model.RetryEvent) string {
	return fmt.Sprintf("retrying %d of %d in %s: %s", e.Attempt, e.MaxAttempts, tty.Span(milliseconds(e.Wait)), e.Error)
}

// ending is how a run ended and what it took.
func ending(ev engine.Event, u engine.Usage) string {
	how := ev.Status
	if ev.Stop != nil && string(ev.Stop.Code) != how {
		how += ": " + string(ev.Stop.Code)
	}
	return fmt.Sprintf("%s in %s, %s", how, tty.Span(milliseconds(ev.Duration)), tally(u))
}
