package tty

import "strings"

// Ink is a text style.
type Ink string

// The styles.
const (
	Bold   Ink = "\x1b[1m"
	Dim    Ink = "\x1b[2m"
	Red    Ink = "\x1b[31m"
	Green  Ink = "\x1b[32m"
	Yellow Ink = "\x1b[33m"
	reset      = "\x1b[0m"
)

// Pen applies styles, if color is enabled.
type Pen struct{ Color bool }

// Ink returns a text in a style. The text must be safe already: only pens add escape
// sequences to the output of a terminal.
func (p Pen) Ink(c Ink, s string) string {
	if !p.Color || s == "" || c == "" {
		return s
	}
	return string(c) + s + reset
}

// Reset returns what ends the styles of a line that was cut.
func (p Pen) Reset() string {
	if !p.Color {
		return ""
	}
	return reset
}

// plain removes the escape sequences that a Pen added to a line.
var plain = strings.NewReplacer(string(Bold), "", string(Dim), "", string(Red), "", string(Green), "", string(Yellow), "", reset, "").Replace
