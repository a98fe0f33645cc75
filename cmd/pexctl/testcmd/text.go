package testcmd

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/textdiff"
)

// diff prints a change of a golden file, shortened; --review and -o json show all
// of it.
func (p *testPrinter) diff(d textdiff.Diff) {
	if !p.color {
		p.raw("      ", ui.Safe(p.w, d.Unified(mostDiff)))
		return
	}
	p.raw("      ", d.Color(mostDiff, tty.Safe))
}

// text prints a multi-line text, a diff in color.
func (p *testPrinter) text(indent, s string, diff bool) {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	most := mostText
	if diff {
		most = mostDiff
	}
	left := len(lines) - most
	if left > 0 {
		lines = lines[:most]
	}
	for _, l := range lines {
		l = ui.Safe(p.w, l)
		if ink := tty.Ink(ui.DiffColor(l)); diff && p.color {
			l = p.ink(ink, l)
		}
		p.line("%s%s", indent, l)
	}
	if left > 0 {
		p.line("%s... %d more %s (for all: -o json)", indent, left, text.Plural(left, "line"))
	}
}

// indented prints a message with a highlighted first line.
func (p *testPrinter) indented(indent, s string) {
	first, rest, _ := strings.Cut(ui.Safe(p.w, s), "\n")
	p.line("%s%s", indent, first)
	if rest != "" {
		p.text(indent+"  ", rest, false)
	}
}

// raw prints lines that are already escaped.
func (p *testPrinter) raw(indent, s string) {
	for l := range strings.Lines(s) {
		fmt.Fprint(p.w, indent+strings.TrimRight(l, "\n")+"\n")
	}
}
