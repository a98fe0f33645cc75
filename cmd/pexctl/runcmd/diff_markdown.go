package runcmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/pexctl/pex/builtins/markdown"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/runs"
)

// writeMarkdown writes the comparison of two runs for a pull request: figures,
// the first different call, and collapsible details.
func writeMarkdown(w io.Writer, d *runs.Comparison) {
	a, b := markdown.Code(d.A, 80), markdown.Code(d.B, 80)
	if d.Same {
		fmt.Fprintf(w, "No differences between %s and %s.\n", a, b)
		return
	}
	fmt.Fprintf(w, "### Run %s compared with %s\n\n", b, a)
	fmt.Fprintf(w, "| | %s | %s |\n| --- | --- | --- |\n", markdown.Cell(d.A, 40), markdown.Cell(d.B, 40))
	for _, f := range d.Fields {
		fmt.Fprintf(w, "| %s | %s | %s |\n", f.Name, markdown.Cell(shortValue(f.A), 60), markdown.Cell(shortValue(f.B), 60))
	}
	for _, p := range d.Prompts {
		ui.MarkdownDiff(w, "Prompt "+strings.Join(p.Names, ", "), p.Diff)
	}
	if d.First != nil {
		fmt.Fprintf(w, "\nThe first call that differs is %s (%s).\n", markdown.Code(d.First.Path, 120), d.First.Class)
		for _, x := range d.First.Diffs {
			ui.MarkdownDiff(w, fmt.Sprintf("%s: %s", x.Class, x.What), x.Diff)
		}
	}
	ui.MarkdownDiff(w, "Plan and steps", d.Steps)
	ui.MarkdownDiff(w, "Answer", d.Answer)
}
