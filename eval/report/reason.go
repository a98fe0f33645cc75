package report

import (
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/trial"
)

// maxReason is the maximum length of a case's reason in bytes.
const maxReason = 120

// reason is why a trial of a case failed or could not be graded.
type reason struct {
	repeat   int
	check    string
	text     string
	question string // the question of the trial
	expected string // by the failed check; "" = unknown
	actual   string // the value that the check got, or the answer of the run
}

// setReason records why a trial failed, if it is the first failed trial of its case.
func (g *gatherer) setReason(t *tally, row *trial.Row) {
	if t.reason >= 0 && g.reasons[t.reason].repeat <= row.Repeat {
		return
	}
	r := reason{repeat: row.Repeat, question: question(row), actual: shorten(row.Run.Response, maxReason)}
	if row.Outcome == trial.Errored {
		r.text = "error"
		if row.Fault != nil {
			r.text = shorten(string(row.Fault.Kind)+": "+row.Fault.Message, maxReason)
		}
	} else if m := failing(row.Marks); m != nil {
		r.check = g.check(m.Check).name // shared, so that the row can be released
		r.text = shorten(summary(m), maxReason)
		r.expected = shorten(m.Expected, maxReason)
		if m.Actual != "" {
			r.actual = shorten(m.Actual, maxReason)
		}
	}
	if t.reason < 0 {
		t.reason = int32(len(g.reasons))
		g.reasons = append(g.reasons, r)
		return
	}
	g.reasons[t.reason] = r
}

// question returns the start of a trial's question.
func question(row *trial.Row) string {
	for _, from := range []map[string]any{row.Parameters, row.Input} {
		if s, ok := from["question"].(string); ok {
			return shorten(s, maxReason)
		}
	}
	return ""
}

// failing returns the first mark that makes a trial fail, or nil.
func failing(marks []trial.Mark) *trial.Mark {
	for i := range marks {
		if m := &marks[i]; !m.Pass && m.Error == "" && m.Weight > 0 {
			return m
		}
	}
	return nil
}

// summary summarizes a mark in one line.
func summary(m *trial.Mark) string {
	switch {
	case m.Message != "":
		return m.Message
	case m.Expected != "":
		return "expected " + m.Expected + ", got " + m.Actual
	}
	return m.Type
}

// shorten returns a text as one line of at most n bytes, without references to the original string.
func shorten(s string, n int) string {
	if len(s) > 4*n {
		s = s[:4*n] // most of it may be spaces
	}
	s = text.OneLine(s)
	if len(s) <= n {
		return strings.Clone(strings.ToValidUTF8(s, "\uFFFD"))
	}
	cut := n - len("...")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.ToValidUTF8(s[:cut], "\uFFFD") + "..."
}
