package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/pexctl/pex/builtins/tty"
)

// widest is the maximum width of a line without a terminal.
const widest = 160

// Columns returns the width of a terminal stream.
func Columns(stream any) int {
	f, ok := Terminal(stream)
	if !ok {
		return widest
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 {
		return 80
	}
	return columns
}

// Table writes rows, of which the first is the heading, in columns as wide as
// their content. The last column gets the remaining room, which Table returns,
// and is truncated to it.
func Table(w io.Writer, rows [][]string) (room int) {
	columns := Columns(w)
	widths := widthsOf(rows, columns)
	room = columns
	for _, wide := range widths[:len(widths)-1] {
		room -= wide + 2
	}
	room = max(room, 10)
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row[:len(row)-1] {
			cell = tty.OneLine(cell, columns)
			line.WriteString(cell + strings.Repeat(" ", widths[i]-tty.Width(cell)+2))
		}
		line.WriteString(tty.OneLine(row[len(row)-1], room))
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
	return room
}

// widthsOf returns the widths of columns, with each cell limited to most columns.
func widthsOf(rows [][]string, most int) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], tty.Width(tty.OneLine(cell, most)))
		}
	}
	return widths
}

// TableOrRecords writes a table if lines have room for it, otherwise each row as
// a record: its first cell, and below it the other cells that are not "-" with
// their headings.
func TableOrRecords(w io.Writer, rows [][]string) {
	columns, headings := Columns(w), rows[0]
	widths := widthsOf(rows, columns+1)
	wide := 2 * (len(widths) - 1)
	for _, width := range widths {
		wide += width
	}
	if wide <= columns {
		Table(w, rows)
		return
	}
	most := slices.Max(widthsOf([][]string{headings}, columns))
	for _, row := range rows[1:] {
		fmt.Fprintln(w, tty.Flat(row[0]))
		for i, cell := range row[1:] {
			if cell != "-" {
				fmt.Fprintf(w, "  %-*s  %s\n", most, headings[i+1], tty.Flat(cell))
			}
		}
	}
}
