package tui

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/pexctl/pex/builtins/tty"
)

// key handles a key.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name == "ctrl+c" {
		return m.ctrlC()
	}
	m.leaving, m.notice = false, ""
	switch {
	case name == "enter":
		m.submit(m.o.Submit)
	case name == "esc":
		m.submit(m.o.Interrupt)
	case name == "tab":
		m.editor.complete(m.o.Commands)
	case name == "ctrl+d" && m.editor.Size() == 0:
		m.quitting = true
		return m.print()
	case name == "ctrl+d":
		m.editor.edit("delete")
	case name == "ctrl+l":
		return tea.ClearScreen
	case m.editor.edit(name):
	case k.Text != "":
		return m.insert(k.Text)
	}
	return nil
}

// ctrlC clears the input; with an empty one, the second time leaves.
func (m *model) ctrlC() tea.Cmd {
	switch {
	case m.leaving:
		m.quitting = true
		return m.print()
	case m.editor.Size() > 0:
		m.editor.Set("")
		m.notice = ""
	default:
		m.leaving, m.notice = true, "Ctrl-C again leaves"
	}
	return nil
}

// submit passes on the text.
func (m *model) submit(to func(string)) {
	if to == nil {
		return
	}
	to(strings.TrimRight(m.editor.Take(), "\n"))
}

// insert inserts a text, unless there would be too much. Then all stays as it is.
func (m *model) insert(s string) tea.Cmd {
	if size := m.editor.Size() + len(s); m.o.MaxText > 0 && size > m.o.MaxText {
		m.pending = append(m.pending, m.o.Pen.Ink(tty.Red, fmt.Sprintf("not inserted: a text of %d KiB; the limit is %d KiB. Put it in a file: /file PATH", size>>10, m.o.MaxText>>10)))
		return m.print()
	}
	m.editor.Insert(s)
	return nil
}

// fit truncates a line to the width of the screen.
func (m *model) fit(line string) string {
	cut := wrap(line, m.columns)
	if len(cut) == 1 {
		return line
	}
	return cut[0] + m.o.Pen.Reset()
}

// Wrap breaks a text into lines of a number of columns.
func Wrap(text string, columns int) (out []string) {
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, wrap(line, max(columns, 1))...)
	}
	return out
}

// wrap breaks a line with the styles of a Pen into lines of a number of columns.
func wrap(line string, columns int) (out []string) {
	var b strings.Builder
	used := 0
	for i := 0; i < len(line); {
		if line[i] == '\x1b' { // a style of a Pen has no width
			end := strings.IndexByte(line[i:], 'm')
			if end < 0 {
				break
			}
			b.WriteString(line[i : i+end+1])
			i += end + 1
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if w := tty.Width(string(r)); used+w > columns && used > 0 {
			out = append(out, b.String())
			b.Reset()
			used = 0
		}
		b.WriteRune(r)
		used += tty.Width(string(r))
		i += size
	}
	return append(out, b.String())
}
