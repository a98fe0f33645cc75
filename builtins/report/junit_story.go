package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// history is the trials of one case under one variant, as far as JUnit tells of
// them. A nil history has none.
type history struct {
	trials []told
	bad    *trial.Row // the first that failed, else the first that ended in an error
}

// told is a trial in short.
type told struct {
	repeat    int
	outcome   trial.Outcome
	score     float64
	latencyMS float64
	tokens    int
}

// add takes a trial over.
func (h *history) add(row *trial.Row) {
	t := told{row.Repeat, row.Outcome, row.Score, row.Run.LatencyMS, row.Run.Tokens}
	i, _ := slices.BinarySearchFunc(h.trials, t, func(a, b told) int { return cmp.Compare(a.repeat, b.repeat) })
	h.trials = slices.Insert(h.trials, i, t)
	if row.Outcome != trial.Failed && row.Outcome != trial.Errored || h.bad != nil && !before(row, h.bad) {
		return
	}
	h.bad = &trial.Row{Key: row.Key, Outcome: row.Outcome, Fault: row.Fault, Marks: failedMarks(row.Marks)}
	h.bad.Run.Response = firstPart(row.Run.Response, responseMost)
}

// before says that a trial is to be told of rather than another.
func before(a, b *trial.Row) bool {
	if a.Outcome != b.Outcome {
		return a.Outcome == trial.Failed
	}
	return a.Repeat < b.Repeat
}

// whole says that all trials of a case are there.
func (h *history) whole(c *report.CaseStats) bool {
	if h == nil {
		return c.N+c.Errors+c.Skipped == 0
	}
	var graded, errors, skipped int
	for _, t := range h.trials {
		switch t.outcome {
		case trial.Errored:
			errors++
		case trial.Skipped:
			skipped++
		case trial.Passed, trial.Failed:
			graded++
		}
	}
	return graded == c.N && errors == c.Errors && skipped == c.Skipped
}

func (h *history) milliseconds() float64 {
	sum := 0.0
	if h != nil {
		for _, t := range h.trials {
			sum += t.latencyMS
		}
	}
	return sum
}

// properties are the trials, each by its number.
func (h *history) properties() []xmlProperty {
	if h == nil {
		return nil
	}
	var out []xmlProperty
	for _, t := range h.trials {
		value := string(t.outcome)
		if t.outcome == trial.Passed || t.outcome == trial.Failed {
			value += fmt.Sprintf(", score %.3g, %s, %d tokens", t.score, milliseconds(t.latencyMS), t.tokens)
		}
		out = append(out, xmlProperty{fmt.Sprintf("trial %d", t.repeat), value})
	}
	return out
}

func (h *history) fault() (kind, message string) {
	if h == nil || h.bad == nil || h.bad.Fault == nil {
		return string(trial.InternalFault), "no trial could be graded"
	}
	return string(h.bad.Fault.Kind), h.bad.Fault.Message
}

// How much of a trial is told.
const (
	responseMost = 4000
	storyMost    = 32000
)

// story is what went wrong in the first trial that failed.
func (h *history) story(set Settings, r *report.Report) string {
	if h == nil || h.bad == nil {
		return ""
	}
	var b strings.Builder
	how := "failed"
	if h.bad.Outcome == trial.Errored {
		how = "ended in an error"
	}
	fmt.Fprintf(&b, "trial %d of %d %s\n", h.bad.Repeat, len(h.trials), how)
	if f := h.bad.Fault; f != nil {
		fmt.Fprintf(&b, "\n%s error: %s\n", f.Kind, f.Message)
	}
	for i := range h.bad.Marks {
		b.WriteString("\n" + markStory(set, r, &h.bad.Marks[i]))
	}
	if text := h.bad.Run.Response; text != "" {
		fmt.Fprintf(&b, "\nresponse: %s\n", text)
	}
	return firstPart(b.String(), storyMost)
}

// markStory is what a check expected and got.
func markStory(set Settings, r *report.Report, m *trial.Mark) string {
	text := m.Check
	if m.Type != "" && m.Type != m.Check {
		text += " (" + m.Type + ")"
	}
	if m.Line > 0 {
		text += " " + set.at(r.Manifest.File, m.Line)
	}
	lines := []string{text}
	for _, x := range []struct{ label, text string }{
		{"", m.Message}, {"error: ", m.Error}, {"expected: ", m.Expected}, {"actual: ", m.Actual}, {"", m.Diff},
	} {
		if x.text != "" {
			lines = append(lines, x.label+strings.TrimRight(x.text, "\n"))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// failedMarks are those that made a trial fail, and those that could not be made.
func failedMarks(marks []trial.Mark) []trial.Mark {
	var out []trial.Mark
	for i := range marks {
		if fails(&marks[i]) || marks[i].Error != "" {
			out = append(out, marks[i])
		}
	}
	return out
}

// firstPart is the beginning of a text, of at most so many bytes.
func firstPart(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return text.Clip(s, most) + " (cut; " + tty.Amount(len(s)) + " bytes)"
}
