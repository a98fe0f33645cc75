package ui

import (
	"fmt"
	"io"

	"github.com/pexctl/pex/builtins/tty"
)

// PrintHints prints the next steps in dim lines if w is a terminal.
func PrintHints(w io.Writer, lines []string) {
	if _, ok := Terminal(w); !ok {
		return
	}
	pen := tty.Pen{Color: UsesColor(w)}
	for _, line := range lines {
		fmt.Fprintln(Styled(w), pen.Ink(tty.Dim, Safe(w, line)))
	}
}
