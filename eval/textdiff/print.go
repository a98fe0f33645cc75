package textdiff

import (
	"fmt"
	"strings"
)

// Unified is a diff as text, "" when nothing changed. It has at most most
// lines, 0 = all; then a last line says how many more there are, and lines that
// are very long show only what changed in them.
func (d Diff) Unified(most int) string { return d.print(most, plainLook) }

// Colour is Unified for a terminal that shows colours: lines that were cut are
// red, new ones green, and changed words inverse. Every text passes through
// safe, which makes it fit for a terminal.
func (d Diff) Colour(most int, safe func(string) string) string {
	return d.print(most, colours(safe))
}

// Markdown is Unified in a fence that nothing in it closes.
func (d Diff) Markdown(most int) string {
	text := d.Unified(most)
	if text == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "diff\n" + text + fence + "\n"
}

// look writes the parts of a diff.
type look struct {
	head func(string) string
	line func(Line) string
}

var plainLook = look{
	head: func(s string) string { return s },
	line: func(l Line) string { return string(l.Op) + l.Text },
}

const (
	red     = "\x1b[31m"
	green   = "\x1b[32m"
	dim     = "\x1b[2m"
	inverse = "\x1b[7m"
	upright = "\x1b[27m"
	reset   = "\x1b[0m"
)

func colours(safe func(string) string) look {
	return look{
		head: func(s string) string { return dim + s + reset },
		line: func(l Line) string {
			switch l.Op {
			case Cut:
				return red + "-" + inWords(l, safe) + reset
			case Put:
				return green + "+" + inWords(l, safe) + reset
			default:
				return " " + safe(l.Text)
			}
		},
	}
}

// inWords is a line with its changed words inverse.
func inWords(l Line, safe func(string) string) string {
	var b strings.Builder
	at := 0
	for _, w := range l.Words {
		b.WriteString(safe(l.Text[at:w.From]) + inverse + safe(l.Text[w.From:w.To]) + upright)
		at = w.To
	}
	return b.String() + safe(l.Text[at:])
}

func (d Diff) print(most int, k look) string {
	var out []string
	for _, h := range d.Hunks {
		out = append(out, k.head(fmt.Sprintf("@@ -%s +%s @@", extent(h.OldLine, h.OldLines), extent(h.NewLine, h.NewLines))))
		for _, l := range h.Lines {
			if most > 0 && len(out) >= most {
				out = append(out, "") // it is only counted
				continue
			}
			if most > 0 {
				l = shortened(l)
			}
			text := k.line(l)
			if l.Bare {
				text += "\n" + k.head(`\ No newline at end of file`)
			}
			out = append(out, text)
		}
	}
	if most > 0 && len(out) > most {
		out = append(out[:most], k.head(fmt.Sprintf("... and %d more lines; pexctl test --review shows all", len(out)-most)))
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}

func extent(line, n int) string {
	if n == 1 {
		return fmt.Sprint(line)
	}
	return fmt.Sprintf("%d,%d", line, n)
}

// longLine is how much of a line is shown at most where not all is shown.
const longLine = 300

// shortened leaves out of a very long line what did not change, and the end of
// what still is too much.
func shortened(l Line) Line {
	if len(l.Text) <= longLine {
		return l
	}
	out := Line{Op: l.Op, Bare: l.Bare}
	if len(l.Words) == 0 {
		out.Text = head(l.Text, longLine)
		return out
	}
	const beside = 40
	at := 0
	for _, w := range l.Words {
		if len(out.Text) > longLine {
			break
		}
		from := boundary(l.Text, max(at, w.From-beside))
		if from > at {
			out.Text += "…"
		}
		out.Text += l.Text[from:w.From]
		word := head(l.Text[w.From:w.To], longLine)
		out.Words = append(out.Words, Span{len(out.Text), len(out.Text) + len(word)})
		out.Text += word
		at = w.To
	}
	to := boundary(l.Text, min(len(l.Text), at+beside))
	out.Text += l.Text[at:to]
	if to < len(l.Text) {
		out.Text += "…"
	}
	return out
}

// head is at most n bytes of a text, and a mark where that is not all.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:boundary(s, n)] + "…"
}

// boundary is the beginning of the character that holds a byte.
func boundary(s string, i int) int {
	for i > 0 && i < len(s) && s[i]&0xc0 == 0x80 {
		i--
	}
	return i
}
