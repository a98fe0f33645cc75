package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// print prints the next lines, at most as many as fit above the input at once: what scrolls off the
// screen while it is drawn would be lost. After the last line, it quits if that is wanted.
func (m *model) print() tea.Cmd {
	switch {
	case m.printing:
		return nil
	case len(m.pending) == 0 && m.quitting:
		return tea.Quit
	case len(m.pending) == 0:
		return nil
	}
	content, _ := m.layout()
	room := max(1, m.rows-strings.Count(content, "\n")-2)
	n, used := 0, 0
	for n < len(m.pending) && (n == 0 || used < room) {
		wrapped := wrap(m.pending[n], m.columns)
		if used += len(wrapped); len(wrapped) > 1 && used > room { // long lines are printed piece by piece
			m.pending = append(m.pending[:n:n], append(wrapped, m.pending[n+1:]...)...)
			n += max(0, room-(used-len(wrapped)))
			break
		}
		n++
	}
	n = max(n, 1)
	lines := strings.Join(m.pending[:n], "\n")
	m.keep(m.pending[:n])
	m.pending = m.pending[n:]
	if lines == "" {
		lines = " " // an empty text prints nothing
	}
	m.printing = true
	return tea.Sequence(tea.Println(lines), func() tea.Msg { return printedMsg{} })
}

// maxPrinted is how many lines of the transcript can be drawn again.
const maxPrinted = 500

// keep keeps lines that are printed.
func (m *model) keep(lines []string) {
	m.printed = append(m.printed, lines...)
	if n := len(m.printed) - maxPrinted; n > 0 {
		m.printed = slices.Clone(m.printed[n:])
	}
}

// settle is how long a size must last before the screen is drawn for it.
const settle = 80 * time.Millisecond

// resize notes the size of the terminal. Terminals wrap lines of the old width, so that what was
// drawn is no longer where it was.
func (m *model) resize(columns, rows int) tea.Cmd {
	first := m.shown.Load() == 0
	changed := columns != m.columns || rows != m.rows
	m.columns, m.rows = columns, rows
	m.shown.Store(int64(columns))
	if first { // nothing is printed before
		return drawn()
	}
	if !changed {
		return nil
	}
	m.resizes++
	n := m.resizes
	return tea.Tick(settle, func(time.Time) tea.Msg { return resizedMsg(n) })
}

// frames is how long Bubble Tea takes to draw a cleared screen: some of its frames. Lines that are
// printed before are cleared, too.
const frames = 50 * time.Millisecond

// redraw clears the screen and prints the end of the transcript again, once the size is that of
// resize number n.
func (m *model) redraw(n int) tea.Cmd {
	if n != m.resizes || m.quitting {
		return nil
	}
	if m.stale = m.printing; m.stale {
		return nil
	}
	content, _ := m.layout()
	room, from := m.rows-strings.Count(content, "\n")-2, len(m.printed)
	for from > 0 {
		if room -= len(wrap(m.printed[from-1], m.columns)); room < 0 {
			break
		}
		from--
	}
	m.pending = append(slices.Clone(m.printed[from:]), m.pending...)
	m.printed = m.printed[:from]
	m.printing = true
	const clear = "\x1b[H\x1b[2J"
	return tea.Sequence(tea.Raw(clear), tea.ClearScreen, drawn())
}

// drawn says that lines can be printed, once the screen is drawn.
func drawn() tea.Cmd { return tea.Tick(frames, func(time.Time) tea.Msg { return printedMsg{} }) }
