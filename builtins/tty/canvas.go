package tty

import (
	"fmt"
	"io"
	"strings"
)

// minWidth is the minimum width of pictures.
const minWidth = 20

// Canvas is a block of lines on a terminal that is redrawn in place. It is not safe
// for concurrent use.
type Canvas struct {
	w      io.Writer
	size   func() (columns, rows int)
	widths []int // width of each line on the screen that the next picture replaces
}

// NewCanvas draws on w, a terminal whose size is size().
func NewCanvas(w io.Writer, size func() (columns, rows int)) *Canvas {
	return &Canvas{w: w, size: size}
}

// Columns returns the width of a picture.
func (c *Canvas) Columns() int {
	columns, _ := c.size()
	return max(columns, minWidth)
}

// Rows returns the maximum height of a picture. Lines that scrolled off the screen cannot
// be redrawn.
func (c *Canvas) Rows() int {
	_, rows := c.size()
	return max(rows-1, 5)
}

// Drawn reports whether there is a picture that the next one replaces.
func (c *Canvas) Drawn() bool { return len(c.widths) > 0 }

// Draw writes lines that stay, and replaces the picture below them. It is a single
// write, so that nothing flickers; the terminal truncates lines that are too long.
func (c *Canvas) Draw(above, lines []string) {
	columns := c.Columns()
	c.Write(c.toTop() + overwrite(above) + "\x1b[?7l" + overwrite(lines) + "\x1b[?7h\x1b[J")
	c.widths = c.widths[:0]
	for _, line := range lines {
		c.widths = append(c.widths, min(Width(plain(line)), columns))
	}
}

// Finish replaces the picture by one that stays, which may be higher than the
// screen, and writes a text after it.
func (c *Canvas) Finish(lines []string, last string) {
	c.Write(c.toTop() + overwrite(lines) + "\x1b[J" + last)
	c.Leave()
}

// Leave keeps the picture on the screen: the next one is drawn below what is
// written meanwhile.
func (c *Canvas) Leave() { c.widths = nil }

// Write writes at the cursor. Errors are ignored: the terminal may be gone.
func (c *Canvas) Write(s string) { _, _ = io.WriteString(c.w, s) }

// overwrite returns the sequence that writes lines over existing ones. It does not clear
// the screen first, which would flicker, and tmux would keep the cleared screen in its
// history.
func overwrite(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line + "\x1b[K\n")
	}
	return b.String()
}

// toTop moves the cursor to the top of the picture.
func (c *Canvas) toTop() string {
	if len(c.widths) == 0 {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA", c.height())
}

// height returns how many lines of the screen the picture occupies now. A terminal that
// became narrower has wrapped its lines.
func (c *Canvas) height() int {
	columns, _ := c.size()
	n := 0
	for _, w := range c.widths {
		n += max(1, (w+columns-1)/max(columns, 1))
	}
	return n
}
