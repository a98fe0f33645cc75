package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// history holds the trials of one case and variant, as far as JUnit reports them. A nil
// history is empty.
type history struct {
	trials []trialSummary
	failed *trial.Row // the first failed trial, else the first with an error
}

// trialSummary is a summary of a trial.
type trialSummary struct {
	repeat    int
	outcome   trial.Outcome
	score     float64
	latencyMS float64
	tokens    int
}

// add adds a trial.
func (h *history) add(row *trial.Row) {
	t := trialSummary{row.Repeat, row.Outcome, row.Score, row.Run.LatencyMS, row.Run.Tokens}
	i, _ := slices.BinarySearchFunc(h.trials, t, func(a, b trialSummary) int { return cmp.Compare(a.repeat, b.repeat) })
	h.trials = slices.Insert(h.trials, i, t)
	if row.Outcome != trial.Failed && row.Outcome != trial.Errored || h.failed != nil && !before(row, h.failed) {
		return
	}
	h.failed = &trial.Row{Key: row.Key, Outcome: row.Outcome, Fault: row.Fault, Marks: failedMarks(row.Marks)}
	h.failed.Run.Response = firstPart(row.Run.Response, responseMost)
}

// before reports whether a should be described rather than b.
func before(a, b *trial.Row) bool {
	if a.Outcome != b.Outcome {
		return a.Outcome == trial.Failed
	}
	return a.Repeat < b.Repeat
}

// complete reports whether all trials of a case are present.
func (h *history) complete(c *report.CaseStats) bool {
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

// properties returns one property per trial.
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
	if h == nil || h.failed == nil || h.failed.Fault == nil {
		return string(trial.InternalFault), "no trial could be graded"
	}
	return string(h.failed.Fault.Kind), h.failed.Fault.Message
}

// Limits of the description of a trial.
const (
	responseMost = 4000
	maxStory     = 32000
)

// story describes the first failed trial.
func (h *history) story(set Settings, r *report.Report) string {
	if h == nil || h.failed == nil {
		return ""
	}
	var b strings.Builder
	how := "failed"
	if h.failed.Outcome == trial.Errored {
		how = "ended in an error"
	}
	fmt.Fprintf(&b, "trial %d of %d %s\n", h.failed.Repeat, len(h.trials), how)
	if f := h.failed.Fault; f != nil {
		fmt.Fprintf(&b, "\n%s error: %s\n", f.Kind, f.Message)
	}
	for i := range h.failed.Marks {
		b.WriteString("\n" + markStory(set, r, &h.failed.Marks[i]))
	}
	if text := h.failed.Run.Response; text != "" {
		fmt.Fprintf(&b, "\nresponse: %s\n", text)
	}
	return firstPart(b.String(), maxStory)
}

// markStory describes what a check expected and got.
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

// failedMarks returns the marks that made a trial fail, and those with an error.
func failedMarks(marks []trial.Mark) []trial.Mark {
	var out []trial.Mark
	for i := range marks {
		if fails(&marks[i]) || marks[i].Error != "" {
			out = append(out, marks[i])
		}
	}
	return out
}

// firstPart returns the start of a text, at most the given number of bytes.
func firstPart(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return text.Clip(s, most) + " (cut; " + text.Amount(len(s)) + " bytes)"
}
