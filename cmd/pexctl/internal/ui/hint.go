package ui

import (
	"fmt"
	"io"
	"os"
)

// PrintHints shows, in dim lines on a terminal, what to try next.
func PrintHints(w io.Writer, lines []string) {
	if _, ok := Terminal(w); !ok {
		return
	}
	w = Styled(w)
	dim, reset := "\x1b[2m", "\x1b[0m"
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		dim, reset = "", ""
	}
	for _, line := range lines {
		fmt.Fprintf(w, "%s%s%s\n", dim, line, reset)
	}
}
