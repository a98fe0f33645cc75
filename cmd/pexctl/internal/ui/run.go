package ui

import (
	"cmp"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
)

// FormatStart formats a start time for a table: relative at a terminal, otherwise RFC
// 3339.
func FormatStart(c *Call, at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	if _, ok := Terminal(c.Stdout); ok {
		return text.Ago(time.Since(at))
	}
	return at.UTC().Format(time.RFC3339)
}

// EndReason explains in one line why a run ended.
func EndReason(res *engine.Result) string {
	r := res.StopReason
	text := string(r.Code)
	switch {
	case strings.HasPrefix(r.Message, text), r.Code == stop.Interrupted && r.Message != "":
		text = r.Message
	case r.Message != "":
		text += ": " + r.Message
	}
	if r.Path != "" && !strings.HasSuffix(text, r.Path) {
		head, rest, more := strings.Cut(text, "\n")
		if text = head + " (" + r.Path + ")"; more {
			text += "\n" + rest
		}
	}
	lines := []string{text}
	for _, q := range res.Interrupts {
		lines = append(lines, questionLines(q)...)
	}
	return strings.Join(lines, "\n  ")
}

// questionLines returns an open question with its path, and the call or plan that it
// is about on a line of its own.
func questionLines(q interrupt.Question) []string {
	oneLine := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	lines := []string{oneLine(q.Path + ": " + cmp.Or(q.Question, string(q.Kind)))}
	if len(q.Args) > 0 {
		about := string(q.Args)
		if !strings.Contains(q.Question, q.Tool) {
			about = q.Tool + " " + about
		}
		lines = append(lines, "  "+oneLine(about))
	}
	if rule := q.RuleText(); rule != "" {
		lines = append(lines, "  "+oneLine(rule))
	}
	return lines
}
