package report

import (
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/trial"
)

// maxReason is how long the reason of a case may be, in bytes.
const maxReason = 120

// reason is why a trial of a case failed, or could not be graded.
type reason struct {
	repeat   int
	check    string
	text     string
	question string // that the trial asked
	expected string // by the check that failed; "" = the check names nothing
	actual   string // what the check got, or the answer of the run
}

// explain keeps why a trial failed, if it is the case's first that did.
func (g *gathering) explain(t *tally, row *trial.Row) {
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
		r.check = g.check(m.Check).name // not the row's own copy
		r.text = shorten(told(m), maxReason)
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

// question is the beginning of the question that a trial asked.
func question(row *trial.Row) string {
	for _, from := range []map[string]any{row.Parameters, row.Input} {
		if s, ok := from["question"].(string); ok {
			return shorten(s, maxReason)
		}
	}
	return ""
}

// failing is the first mark that fails a trial.
func failing(marks []trial.Mark) *trial.Mark {
	for i := range marks {
		if m := &marks[i]; !m.Pass && m.Error == "" && m.Weight > 0 {
			return m
		}
	}
	return nil
}

// told is what a mark says in a line.
func told(m *trial.Mark) string {
	switch {
	case m.Message != "":
		return m.Message
	case m.Expected != "":
		return "expected " + m.Expected + ", got " + m.Actual
	}
	return m.Type
}

// shorten is a text in one line of at most n bytes, in memory of its own.
func shorten(s string, n int) string {
	if len(s) > 4*n {
		s = s[:4*n] // of which most may be spaces
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
