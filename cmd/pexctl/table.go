package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/pexctl/pex/builtins/tty"
)

// widest is how many columns a line may take where no terminal says so.
const widest = 160

// columnsOf is the width of the terminal that a stream is.
func columnsOf(stream any) int {
	f, ok := terminal(stream)
	if !ok {
		return widest
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 {
		return 80
	}
	return columns
}

// inColor says whether a stream takes colors.
func inColor(stream any) bool {
	_, ok := terminal(stream)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// table writes rows, the first of them the heading, in columns that are as wide
// as what they hold; what does not fit into the line is cut off the last.
func table(w io.Writer, rows [][]string) {
	columns := columnsOf(w)
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = tty.OneLine(cell, columns)
			widths[i] = max(widths[i], tty.Width(row[i]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		left := columns
		for i, cell := range row {
			if i == len(row)-1 {
				line.WriteString(tty.OneLine(cell, max(left, 10)))
				break
			}
			line.WriteString(cell + strings.Repeat(" ", widths[i]-tty.Width(cell)+2))
			left -= widths[i] + 2
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}
