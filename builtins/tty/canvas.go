package tty

import (
	"fmt"
	"io"
	"strings"
)

// narrowest is the width that pictures are made for at least.
const narrowest = 20

// Canvas is lines on a terminal that are drawn again in place. It is not safe
// for concurrent use.
type Canvas struct {
	w     io.Writer
	size  func() (columns, rows int)
	drawn []int // width of each line on the screen that the next picture replaces
}

// NewCanvas draws on w, a terminal of the size that size tells.
func NewCanvas(w io.Writer, size func() (columns, rows int)) *Canvas {
	return &Canvas{w: w, size: size}
}

// Columns is the width to draw for.
func (c *Canvas) Columns() int {
	columns, _ := c.size()
	return max(columns, narrowest)
}

// Rows is how many lines a picture may have: what scrolls away cannot be drawn
// again.
func (c *Canvas) Rows() int {
	_, rows := c.size()
	return max(rows-1, 5)
}

// Standing says whether a picture stands that the next one replaces.
func (c *Canvas) Standing() bool { return len(c.drawn) > 0 }

// Draw replaces the picture, after lines that stay. It is one write, so that
// nothing flickers; lines that are too long after all are cut by the terminal.
func (c *Canvas) Draw(above, lines []string) {
	columns := c.Columns()
	c.Write(c.back() + over(above) + "\x1b[?7l" + over(lines) + "\x1b[?7h\x1b[J")
	c.drawn = c.drawn[:0]
	for _, line := range lines {
		c.drawn = append(c.drawn, min(Width(plain(line)), columns))
	}
}

// Finish replaces the picture by one that stays, which may be higher than the
// screen, and writes a text behind it.
func (c *Canvas) Finish(lines []string, last string) {
	c.Write(c.back() + over(lines) + "\x1b[J" + last)
	c.Leave()
}

// Leave lets the picture stand: the next one is drawn below what was written
// since.
func (c *Canvas) Leave() { c.drawn = nil }

// Write writes where the cursor stands. A terminal that went away is no error
// of what it shows.
func (c *Canvas) Write(s string) { _, _ = io.WriteString(c.w, s) }

// over writes lines over others. The screen is not cleared before: it would
// flicker, and tmux keeps a cleared screen in its history.
func over(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line + "\x1b[K\n")
	}
	return b.String()
}

// back moves to the top of the picture.
func (c *Canvas) back() string {
	if len(c.drawn) == 0 {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA", c.height())
}

// height is how many lines of the screen the picture takes now: a terminal
// that became narrower has broken its lines.
func (c *Canvas) height() int {
	columns, _ := c.size()
	n := 0
	for _, w := range c.drawn {
		n += max(1, (w+columns-1)/max(columns, 1))
	}
	return n
}
