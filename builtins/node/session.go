package node

import (
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine"
)

// withSession adds what the conversation's tools kept to a user prompt, where
// they kept anything. All of it stands in one fence: a stored text can neither
// end it nor pass for a line of the prompt.
func withSession(v engine.View, text engine.Text) engine.Text {
	if v.State.Session.Empty() {
		return text
	}
	gap := "\n\n"
	if n := len(text); n > 0 && strings.HasSuffix(text[n-1], "\n") {
		gap = "\n"
	}
	return append(text, gap, sessionPrompt+strings.Join(fenced(nil, kept(v.State.Session)), "")+"\n")
}

// kept is the notes and variables, one a line; further lines of a note are
// indented.
func kept(s engine.SessionView) string {
	var b strings.Builder
	if len(s.Notes) > 0 {
		b.WriteString("Notes:\n")
	}
	for i, n := range s.Notes {
		b.WriteString(strconv.Itoa(i+1) + ". [" + n.At.UTC().Format("2006-01-02 15:04") + "] ")
		b.WriteString(strings.ReplaceAll(strings.TrimSpace(n.Text), "\n", "\n   ") + "\n")
	}
	if len(s.Variables) > 0 {
		b.WriteString("Variables:\n")
	}
	for _, x := range s.Variables {
		b.WriteString("- " + x.String() + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
