package tty

import "strings"

// Ink is how a text is written.
type Ink string

// The inks.
const (
	Bold   Ink = "\x1b[1m"
	Dim    Ink = "\x1b[2m"
	Red    Ink = "\x1b[31m"
	Green  Ink = "\x1b[32m"
	Yellow Ink = "\x1b[33m"
	reset      = "\x1b[0m"
)

// Pen writes with ink, or, without color, just writes.
type Pen struct{ Color bool }

// Ink is a text in an ink. The text is safe already: only pens put escape
// sequences into what a terminal gets.
func (p Pen) Ink(c Ink, s string) string {
	if !p.Color || s == "" || c == "" {
		return s
	}
	return string(c) + s + reset
}

// plain takes out what a Pen put into a line.
var plain = strings.NewReplacer(string(Bold), "", string(Dim), "", string(Red), "", string(Green), "", string(Yellow), "", reset, "").Replace
