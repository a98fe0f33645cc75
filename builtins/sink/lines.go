package sink

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// Lines writes a plain line whenever something ends, for logs and CI. It is safe for
// concurrent use.
type Lines struct {
	mu      sync.Mutex
	w       io.Writer
	b       board
	now     func() time.Time // nil = not verbose
	opened  time.Time
	resumed bool // earlier sessions were replayed, and their summary has not been written
}

var (
	_ engine.Sink       = (*Lines)(nil)
	_ engine.ReplaySink = (*Lines)(nil)
)

// NewLines returns a Lines that writes to w.
func NewLines(w io.Writer) *Lines { return &Lines{w: w} }

// lineWidth is the width at which texts are truncated.
const lineWidth = 160

// Replay applies an event of an earlier session. Its lines were written then; one
// line summarizes them before the first of this session.
func (l *Lines) Replay(ev engine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ev, ok := ownEvent(ev); ok {
		l.b.apply(ev)
		l.resumed = true
	}
}

// Send writes the lines of an event, if it has any.
func (l *Lines) Send(ev engine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resume()
	ev, ok := ownEvent(ev)
	if !ok {
		return
	}
	l.b.apply(ev)
	if l.now != nil {
		l.details(ev)
	}
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

// resume writes the summary of earlier sessions, once.
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

// Note writes a line of text.
func (l *Lines) Note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resume()
	l.print("%s", text)
}

// print ignores errors: a run does not fail because its progress cannot be written.
func (l *Lines) print(format string, args ...any) {
	fmt.Fprintln(l.w, l.elapsed()+tty.Safe(fmt.Sprintf(format, args...)))
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
	line := fmt.Sprintf("%s %s (%s, %s tokens)", tty.Flat(s.id), s.status, text.Duration(s.duration), text.Amount(s.tokens))
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
	line += fmt.Sprintf(" %s (%s)", ev.Status, text.Duration(milliseconds(ev.Duration)))
	if ev.Status != string(tool.CallOK) {
		line += ": " + tty.OneLine(ev.Text, lineWidth)
	}
	l.print("%s", line)
}

// Remark returns the message for an event other than those of plan, steps and tools, ""
// if there is none.
func Remark(ev engine.Event) string {
	switch ev.Type {
	case engine.GuardFired:
		return strings.TrimSuffix(fmt.Sprintf("guard %q (%s): %s", ev.Guard.Name, ev.Guard.Do, ev.Guard.Message), ": ")
	case engine.LimitReached:
		return fmt.Sprintf("limit reached: %s (%s)", ev.Stop.Message, ev.Stop.Path)
	case engine.InterruptRaised:
		return waitingFor(ev.Interrupt)
	case engine.MessageReceivedEvent:
		if ev.By == "" {
			return "message: " + ev.Text
		}
		return fmt.Sprintf("message from %s: %s", ev.By, ev.Text)
	case engine.ModelRetrying:
		return "llm " + ev.Model + ": " + retryText(ev.Retry)
	case engine.ToolRetrying:
		return "tool " + ev.Tool + ": " + retryText(ev.Retry)
	case engine.Warning:
		return "warning: " + ev.Text
	default:
		return ""
	}
}

// waitingFor describes what a run that asks a question waits for.
func waitingFor(q *interrupt.Question) string {
	switch q.Kind {
	case interrupt.Plan:
		return "waiting for approval of the plan"
	case interrupt.Approval, interrupt.Guard, interrupt.Review:
		if q.Tool != "" {
			return strings.TrimSpace(fmt.Sprintf("waiting for approval: %s %s", q.Tool, argsText(q.Args)))
		}
		return "waiting for approval: " + q.Question
	default:
		return "waiting for an answer: " + q.Question
	}
}

// retryText describes a wait before a call is repeated.
func retryText(e *model.RetryEvent) string {
	return fmt.Sprintf("retrying %d/%d in %s: %s", e.Attempt, e.MaxAttempts, text.Duration(milliseconds(e.Wait)), e.Error)
}

// ending formats the usage of a run, and that it completed.
func ending(ev engine.Event, u engine.Usage) string {
	took := fmt.Sprintf("%s, %s", text.Duration(milliseconds(ev.Duration)), tally(u))
	if ev.Status != string(stop.RunCompleted) {
		return took // the command prints the status with its reason
	}
	how := ev.Status
	if ev.Stop != nil && string(ev.Stop.Code) != how {
		how += ": " + string(ev.Stop.Code)
	}
	return how + " in " + took
}
