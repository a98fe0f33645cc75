package sink

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// Report describes the state of a run for people.
type Report struct {
	Result   *engine.Result
	Question string
	Now      time.Time // base of "3m ago"
	Running  bool      // a process has the run open
	PID      int       // of that process; 0 = unknown
	Columns  int       // maximum width of lines, except for results and the answer
	Color    bool
	HowTo    func(interrupt.Question) []string // the commands that answer a question
}

// minWidth is the minimum width of a report.
const minWidth = 20

// resultLines is the maximum number of lines of a step's result.
const resultLines = 12

// String returns the report, escaped for a terminal.
func (r *Report) String() string {
	w := &writing{p: painter{pen: tty.Pen{Color: r.Color}}, columns: max(r.Columns, minWidth), running: r.Running}
	r.head(w)
	r.messages(w)
	r.plan(w)
	r.decisions(w)
	r.answer(w)
	r.questions(w)
	for _, text := range r.Result.Warnings {
		w.line("warning: %s", tty.Flat(text))
	}
	return w.b.String()
}

// writing is a report being written.
type writing struct {
	b       strings.Builder
	p       painter
	columns int
	running bool
}

func (w *writing) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

// cut writes a line, truncated to the width.
func (w *writing) cut(c tty.Ink, indent, text string) {
	w.line("%s", w.p.pen.Ink(c, indent+tty.OneLine(text, w.columns-tty.Width(indent))))
}

// block writes indented lines, at most n; 0 = all.
func (w *writing) block(indent, body string, n int) {
	lines := strings.Split(strings.TrimRight(tty.Safe(body), "\n"), "\n")
	more := 0
	if n > 0 && len(lines) > n {
		lines, more = lines[:n], len(lines)-n
	}
	for _, line := range lines {
		w.line("%s", strings.TrimRight(indent+line, " "))
	}
	if more > 0 {
		w.line("%s", w.p.pen.Ink(tty.Dim, fmt.Sprintf("%s… %s more; -o json has all", indent, text.Count(more, "line"))))
	}
}

func (r *Report) head(w *writing) {
	res := r.Result
	spec := tty.Flat(res.Spec.Name)
	if res.Spec.Version != "" {
		spec += " " + tty.Flat(res.Spec.Version)
	}
	w.line("%s  %s", w.p.pen.Ink(tty.Bold, "run "+tty.Flat(res.RunID)), spec)
	w.line("%s", w.p.pen.Ink(r.tone(), tty.Flat(r.statusText())))
	w.line("started %s (%s), %s of work", res.StartedAt.UTC().Format(time.RFC3339), text.Ago(r.Now.Sub(res.StartedAt)), text.Duration(milliseconds(res.DurationMS)))
	w.line("%s", tally(res.Usage))
	if len(res.Labels) > 0 {
		w.cut("", "", "labels "+engine.FormatLabels(res.Labels))
	}
	if len(res.EditedPrompts) > 0 {
		w.cut("", "", "edited prompts "+strings.Join(res.EditedPrompts, ", "))
	}
	if r.Question != "" {
		w.line("\n%s", w.p.pen.Ink(tty.Bold, "Question"))
		w.block("  ", r.Question, 0)
	}
}

// statusText returns the status and its cause.
func (r *Report) statusText() string {
	if r.Running {
		if r.PID == 0 {
			return "running"
		}
		return fmt.Sprintf("running (pid %d)", r.PID)
	}
	reason := r.Result.StopReason
	text := string(reason.Code)
	switch {
	case strings.HasPrefix(reason.Message, text), reason.Code == stop.Interrupted && reason.Message != "":
		text = reason.Message
	case reason.Message != "":
		text += ": " + reason.Message
	}
	text = string(r.Result.Status) + ": " + text
	if reason.Path != "" && !strings.HasSuffix(text, reason.Path) {
		text += " (" + reason.Path + ")"
	}
	return text
}

func (r *Report) tone() tty.Ink {
	switch {
	case r.Running:
		return tty.Yellow
	case r.Result.Status == stop.RunCompleted:
		return tty.Green
	case r.Result.Status == stop.RunFailed, r.Result.Status == stop.RunCancelled:
		return tty.Red
	}
	return tty.Yellow
}

// plan writes the steps of the plan and those of earlier plans, with what they did.
func (r *Report) plan(w *writing) {
	res := r.Result
	if res.Plan.Version == 0 && len(res.Steps) == 0 {
		return
	}
	records := map[string]*plan.StepRecord{}
	for i := range res.Steps {
		records[res.Steps[i].ID] = &res.Steps[i]
	}
	w.line("\n%s", w.p.pen.Ink(tty.Bold, fmt.Sprintf("Plan v%d", res.Plan.Version)))
	for _, st := range res.Plan.Steps {
		rec := records[st.ID]
		delete(records, st.ID)
		if rec == nil {
			rec = &plan.StepRecord{ID: st.ID, Goal: st.Goal}
		}
		w.step(rec)
	}
	for i := range res.Steps { // steps that ran and are no longer in the plan
		if records[res.Steps[i].ID] != nil {
			w.step(&res.Steps[i])
		}
	}
}

func (w *writing) step(rec *plan.StepRecord) {
	mark, color := glyph(rec.Status)
	figures := w.figures(rec)
	text := tty.OneLine(rec.Goal, max(minWidth, w.columns-tty.Width(rec.ID)-tty.Width(figures)-7))
	w.line("  %s %s%s", w.p.pen.Ink(color, mark+" "+tty.Flat(rec.ID)), text, w.p.pen.Ink(tty.Dim, figures))
	for _, c := range rec.ToolCalls {
		w.call(c)
	}
	if rec.Error != "" {
		w.cut(tty.Red, "      ", rec.Error)
	}
	if rec.Result != "" {
		w.block("      ", rec.Result, resultLines)
	}
}

// figures formats what a step used, "" if it never ran.
func (w *writing) figures(rec *plan.StepRecord) string {
	if rec.Status == "" {
		return ""
	}
	var parts []string
	switch {
	case rec.Status == plan.Running && !w.running:
		parts = append(parts, "not finished")
	case rec.Status != plan.OK:
		parts = append(parts, string(rec.Status))
	}
	if rec.Attempts > 1 {
		parts = append(parts, text.Count(rec.Attempts, "attempt"))
	}
	if n := rec.Usage.Total(); n > 0 {
		parts = append(parts, text.Amount(n)+" tok")
	}
	if rec.DurationMS > 0 {
		parts = append(parts, text.Duration(milliseconds(rec.DurationMS)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, " · ") + ")"
}

// call writes a tool call with its result, on one line.
func (w *writing) call(c tool.Record) {
	mark, color := "✓", tty.Dim
	if c.Status != tool.CallOK {
		mark, color = "✗", tty.Red
	}
	text := tty.Flat(c.Tool)
	if args := argsText(c.Args); args != "" {
		text += " " + tty.OneLine(args, w.columns/2)
	}
	if c.Status != tool.CallOK {
		text += " " + string(c.Status)
	}
	if output := resultText(c.Result); output != "" {
		text += " → " + output
	}
	w.cut(color, "      "+mark+" ", text)
	for _, r := range c.Repairs {
		w.cut(tty.Dim, "        ", "arguments repaired: "+r.String())
	}
}

// resultText returns the output of a tool: text unchanged, anything else as JSON.
func resultText(v any) string {
	if s, ok := v.(string); ok || v == nil {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return valueText(b, false)
}

func (r *Report) answer(w *writing) {
	text := r.Result.Response
	if text == "" {
		return
	}
	var indented bytes.Buffer
	if len(r.Result.Output) > 0 && json.Indent(&indented, r.Result.Output, "", "  ") == nil {
		text = indented.String()
	}
	w.line("\n%s", w.p.pen.Ink(tty.Bold, "Answer"))
	w.block("  ", text, 0)
}

// messages lists the messages of users: who, and when.
func (r *Report) messages(w *writing) {
	if len(r.Result.Messages) == 0 {
		return
	}
	w.line("\n%s", w.p.pen.Ink(tty.Bold, "Messages"))
	for _, m := range r.Result.Messages {
		w.block("  ", m.Text, 0)
		line := attribution(m.By, m.At)
		if !m.Seen {
			line += ", not seen by a model yet"
			if r.ended() {
				line = strings.TrimSuffix(line, " yet")
			}
		}
		w.line("    %s", w.p.pen.Ink(tty.Dim, tty.Flat(line)))
	}
}

// ended reports whether no session can continue the run.
func (r *Report) ended() bool { return !r.Running && r.Result.Status != stop.RunInterrupted }

// decisions lists the decisions of humans: who, when, and about what.
func (r *Report) decisions(w *writing) {
	if len(r.Result.Decisions) == 0 {
		return
	}
	w.line("\n%s", w.p.pen.Ink(tty.Bold, "Decisions"))
	for i := range r.Result.Decisions {
		w.decision(&r.Result.Decisions[i])
	}
}

func (w *writing) decision(d *engine.DecisionRecord) {
	what := d.Do
	if d.Reason != "" {
		what += ": " + d.Reason
	}
	if d.Text != "" {
		what += ": " + d.Text
	}
	w.line("  %s  %s", w.p.pen.Ink(tty.Yellow, tty.Flat(what)), w.p.pen.Ink(tty.Dim, tty.Flat(attribution(d.By, d.At))))
	if d.Path != "" {
		w.line("    %s", tty.Flat(strings.TrimSpace(fmt.Sprintf("%s  %s %s", d.Path, d.Kind, d.Tool))))
	}
	if d.Tool == "" && len(d.Args) == 0 && d.Question != "" {
		w.block("    ", d.Question, 0)
	}
	for _, part := range []struct {
		name string
		json []byte
	}{{"", d.Args}, {"changed to ", d.Edit}, {"result ", d.Result}} {
		if len(part.json) > 0 {
			w.block("    ", part.name+string(part.json), 0)
		}
	}
}

// attribution returns who made a decision or sent a message and when, if known.
func attribution(by *engine.Actor, at time.Time) string {
	text := "by an unknown person"
	if by != nil {
		text = "by " + by.String()
	}
	if !at.IsZero() {
		text += ", " + at.Format(time.RFC3339)
	}
	return text
}

// questions lists the open questions, each with the command that answers it.
func (r *Report) questions(w *writing) {
	if len(r.Result.Interrupts) == 0 {
		return
	}
	w.line("\n%s", w.p.pen.Ink(tty.Bold, "Waiting for an answer"))
	for _, q := range r.Result.Interrupts {
		w.line("  %s  %s", w.p.pen.Ink(tty.Yellow, tty.Flat(q.Path)), tty.Flat(fmt.Sprintf("%s %s", q.Kind, q.Tool)))
		if len(q.Args) > 0 {
			w.block("    ", string(q.Args), 0)
		}
		if q.Question != "" {
			w.block("    ", q.Question, 0)
		}
		if rule := q.RuleText(); rule != "" {
			w.block("    ", rule, 0)
		}
		if r.HowTo != nil && !r.Running {
			for _, command := range r.HowTo(q) {
				w.line("    %s", w.p.pen.Ink(tty.Dim, tty.Flat(command)))
			}
		}
	}
}
