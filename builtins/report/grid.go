package report

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
)

// sheet is a report for a terminal.
type sheet struct {
	b       strings.Builder
	pen     tty.Pen
	columns int
}

// defaultColumns is the default width of a table.
const defaultColumns = 100

func newSheet(s Settings) *sheet {
	if s.Columns <= 0 {
		s.Columns = defaultColumns
	}
	return &sheet{pen: tty.Pen{Color: s.Color}, columns: max(s.Columns, 40)}
}

// line writes a text in one color, on one line and truncated to the width.
func (s *sheet) line(c tty.Ink, indent, text string) {
	text = tty.OneLine(text, s.columns-tty.Width(indent))
	fmt.Fprintln(&s.b, strings.TrimRight(indent+s.pen.Ink(c, text), " "))
}

// markedLine writes an indented line with a colored mark.
func (s *sheet) markedLine(m mark, text string) {
	const indent = "  "
	text = tty.OneLine(text, s.columns-tty.Width(indent)-tty.Width(m.sign)-1)
	fmt.Fprintln(&s.b, indent+s.pen.Ink(m.ink, m.sign)+" "+text)
}

// wrapped writes a text that must not be truncated, wrapped between words. Words longer
// than a line are broken.
func (s *sheet) wrapped(c tty.Ink, indent, text string) {
	const lines = 10
	left := s.columns - tty.Width(indent)
	line, used := "", 0
	for word := range strings.FieldsSeq(tty.OneLine(text, lines*left)) {
		word = tty.OneLine(word, left)
		w := tty.Width(word)
		if used > 0 && used+1+w > left {
			fmt.Fprintln(&s.b, indent+s.pen.Ink(c, line))
			line, used = "", 0
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+w
	}
	fmt.Fprintln(&s.b, indent+s.pen.Ink(c, line))
}

// title starts a section.
func (s *sheet) title(text string) {
	fmt.Fprintln(&s.b)
	s.line(tty.Bold, "", text)
}

// grid writes a table whose first row is the header. The first column is left-aligned and
// takes the remaining width; the others are right-aligned. If the width is too small, the
// last columns are omitted.
func (s *sheet) grid(indent string, rows [][]string) {
	const name, gap = 12, 2
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			most := s.columns
			if i > 0 {
				most /= 3
			}
			row[i] = tty.OneLine(cell, most)
			widths[i] = max(widths[i], tty.Width(row[i]))
		}
	}
	shown, used := 1, tty.Width(indent)+name
	for shown < len(widths) && used+gap+widths[shown] <= s.columns {
		used += gap + widths[shown]
		shown++
	}
	widths[0] = min(widths[0], name+s.columns-used)
	for i, row := range rows {
		cell := tty.OneLine(row[0], widths[0])
		line := cell + strings.Repeat(" ", widths[0]-tty.Width(cell))
		for j := 1; j < shown; j++ {
			line += strings.Repeat(" ", gap+widths[j]-tty.Width(row[j])) + row[j]
		}
		if i == 0 {
			line = s.pen.Ink(tty.Dim, line)
		}
		fmt.Fprintln(&s.b, strings.TrimRight(indent+line, " "))
	}
}

// item is a line of a list: a mark, columns, and a text with the remaining width.
type item struct {
	mark  mark
	cells []string
}

// list writes items with aligned columns.
func (s *sheet) list(indent string, items []item) {
	widths := make([]int, 3)
	for _, x := range items {
		for i, cell := range x.cells[:len(x.cells)-1] {
			widths[i] = max(widths[i], tty.Width(tty.OneLine(cell, s.columns/3)))
		}
	}
	for _, x := range items {
		line, last := "", len(x.cells)-1
		for i, cell := range x.cells[:last] {
			cell = tty.OneLine(cell, s.columns/3)
			line += cell + strings.Repeat(" ", widths[i]-tty.Width(cell)+2)
		}
		left := s.columns - tty.Width(indent) - tty.Width(line) - 2
		line = indent + s.pen.Ink(x.mark.ink, x.mark.sign) + " " + line + tty.OneLine(x.cells[last], left)
		fmt.Fprintln(&s.b, strings.TrimRight(line, " "))
	}
}

// mark is a symbol at the start of a line.
type mark struct {
	sign string
	ink  tty.Ink
}

var (
	good   = mark{"✓", tty.Green}
	wrong  = mark{"✗", tty.Red}
	unsure = mark{"?", tty.Yellow}
)
