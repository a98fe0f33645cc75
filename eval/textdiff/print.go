package textdiff

import (
	"fmt"
	"strings"
)

// Unified returns the diff as text, or "" if nothing changed. It has at most most lines (0 = all). If it is
// shortened, a last line says how many more there are, and very long lines show only their changes.
func (d Diff) Unified(most int) string { return d.format(most, plainStyle) }

// Color is Unified with ANSI colors: deleted lines are red, inserted ones green, and changed words inverse. safe
// escapes each text for the terminal.
func (d Diff) Color(most int, safe func(string) string) string {
	return d.format(most, colorStyle(safe))
}

// Markdown returns Unified in a code fence that is longer than any in the text.
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

// style formats the parts of a diff.
type style struct {
	head func(string) string
	line func(Line) string
}

var plainStyle = style{
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

func colorStyle(safe func(string) string) style {
	return style{
		head: func(s string) string { return dim + s + reset },
		line: func(l Line) string {
			switch l.Op {
			case Delete:
				return red + "-" + highlightWords(l, safe) + reset
			case Insert:
				return green + "+" + highlightWords(l, safe) + reset
			default:
				return " " + safe(l.Text)
			}
		},
	}
}

// highlightWords returns a line with its changed words inverse.
func highlightWords(l Line, safe func(string) string) string {
	var b strings.Builder
	at := 0
	for _, w := range l.Words {
		b.WriteString(safe(l.Text[at:w.From]) + inverse + safe(l.Text[w.From:w.To]) + upright)
		at = w.To
	}
	return b.String() + safe(l.Text[at:])
}

func (d Diff) format(most int, st style) string {
	var out []string
	for _, h := range d.Hunks {
		out = append(out, st.head(fmt.Sprintf("@@ -%s +%s @@", hunkRange(h.OldLine, h.OldLines), hunkRange(h.NewLine, h.NewLines))))
		for _, l := range h.Lines {
			if most > 0 && len(out) >= most {
				out = append(out, "") // counted, not shown
				continue
			}
			if most > 0 {
				l = shorten(l)
			}
			text := st.line(l)
			if l.NoNewline {
				text += "\n" + st.head(`\ No newline at end of file`)
			}
			out = append(out, text)
		}
	}
	if most > 0 && len(out) > most {
		out = append(out[:most], st.head(fmt.Sprintf("... and %d more lines; pexctl test --review shows all", len(out)-most)))
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}

func hunkRange(line, n int) string {
	if n == 1 {
		return fmt.Sprint(line)
	}
	return fmt.Sprintf("%d,%d", line, n)
}

// maxLineBytes is the maximum length in bytes of a line in a shortened diff.
const maxLineBytes = 300

// shorten removes unchanged parts of a very long line, and truncates the rest.
func shorten(l Line) Line {
	if len(l.Text) <= maxLineBytes {
		return l
	}
	out := Line{Op: l.Op, NoNewline: l.NoNewline}
	if len(l.Words) == 0 {
		out.Text = truncate(l.Text, maxLineBytes)
		return out
	}
	const context = 40
	at := 0
	for _, w := range l.Words {
		if len(out.Text) > maxLineBytes {
			break
		}
		from := boundary(l.Text, max(at, w.From-context))
		if from > at {
			out.Text += "…"
		}
		out.Text += l.Text[from:w.From]
		word := truncate(l.Text[w.From:w.To], maxLineBytes)
		out.Words = append(out.Words, Span{len(out.Text), len(out.Text) + len(word)})
		out.Text += word
		at = w.To
	}
	to := boundary(l.Text, min(len(l.Text), at+context))
	out.Text += l.Text[at:to]
	if to < len(l.Text) {
		out.Text += "…"
	}
	return out
}

// truncate returns the first n bytes of a text, with an ellipsis if it is longer.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:boundary(s, n)] + "…"
}

// boundary returns the start of the character that contains byte i.
func boundary(s string, i int) int {
	for i > 0 && i < len(s) && s[i]&0xc0 == 0x80 {
		i--
	}
	return i
}
