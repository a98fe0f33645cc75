package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/pexctl/pex/builtins/tty"
)

// widest is how many columns a line may take where no terminal says so.
const widest = 160

// Columns is the width of the terminal that a stream is.
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

// Table writes rows, the first of them the heading, in columns that are as wide
// as what they hold; what does not fit into the line is cut off the last, which
// has so much room.
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

// widthsOf are the widths of columns, each cell being cut to so many columns.
func widthsOf(rows [][]string, most int) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], tty.Width(tty.OneLine(cell, most)))
		}
	}
	return widths
}

// TableOrRecords writes a table where lines have room for it, else each row as a
// record: its first cell, and below it the others that are not "-" by their
// headings.
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
