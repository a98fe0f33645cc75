package cassette

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
)

// notRecorded returns the error for an unrecorded request, with its differences from the
// most similar one.
func (m *chatModel) notRecorded(t *track, q query, req *model.Request) *model.Error {
	var b strings.Builder
	fmt.Fprintf(&b, "the cassette %s has no reply to %s", m.config.File, callName(req))
	requests := make([]journal.Request, len(t.answers))
	for i := range t.answers {
		requests[i] = t.answers[i].request
	}
	if i := drift.Nearest(requests, q.request); i >= 0 {
		fmt.Fprintf(&b, "; the nearest recorded request is that of %s, which differs in its %s", t.answers[i].path, describeDifference(t.differences(i, q)[0]))
	} else {
		b.WriteString("; it contains no model replies")
	}
	fmt.Fprintf(&b, ": record again with the model itself: pexctl run SPEC --record %s", m.config.File)
	return &model.Error{Kind: model.NoReply, Message: b.String()}
}

// exhausted returns the error for a request whose replies are all used.
func (m *chatModel) exhausted(replies int, req *model.Request) *model.Error {
	times := "once"
	if replies > 1 {
		times = fmt.Sprintf("%d times", replies)
	}
	return &model.Error{Kind: model.NoReply, Message: fmt.Sprintf(
		"the cassette %s has no reply left to %s: the same request was recorded %s; record again, or write options.repeat: true to get its last reply again",
		m.config.File, callName(req), times,
	)}
}

// callName describes a call.
func callName(req *model.Request) string {
	out := fmt.Sprintf("the %s's call %d", req.Role, req.Call)
	if req.Step != "" {
		out += fmt.Sprintf(" in step %q", req.Step)
	}
	return out
}

// describeDifference returns the first differing lines.
func describeDifference(d drift.Difference) string {
	const before = 20 // characters shown before the difference
	recorded, now := strings.Split(d.Before, "\n"), strings.Split(d.After, "\n")
	for i := range max(len(recorded), len(now)) {
		if was, is := line(recorded, i), line(now, i); !slices.Equal(was, is) {
			alike := commonPrefix(was, is)
			from := max(alike-before, indent(was[:alike]))
			return fmt.Sprintf("%s (recorded %s, now %s)", d.What, excerpt(was, from), excerpt(is, from))
		}
	}
	return d.What
}

// line returns a line of a text without its line ending.
func line(lines []string, i int) []rune {
	if i >= len(lines) {
		return nil
	}
	return []rune(lines[i])
}

// commonPrefix returns the length of the common prefix in characters.
func commonPrefix(a, b []rune) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// indent returns the number of leading spaces.
func indent(line []rune) int {
	n := 0
	for n < len(line) && line[n] == ' ' {
		n++
	}
	return n
}

// excerpt returns a line from an index on, quoted and shortened.
func excerpt(text []rune, from int) string {
	const limit = 80
	out := text[from:]
	if len(text) == 0 {
		return "nothing"
	}
	if len(out) > limit {
		out = append(out[:limit:limit], '…')
	}
	if from > indent(text) {
		out = append([]rune{'…'}, out...)
	}
	return fmt.Sprintf("%q", string(out))
}
