package testcmd

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/eval/coverage"
)

// coverage prints how much of each spec was exercised, and what was not.
func (p *testPrinter) coverage(all []coverage.Report) {
	for i, r := range all {
		if i > 0 || !p.o.quiet {
			p.line("")
		}
		p.line("%s of %s is covered", p.ink(tty.Bold, percent(r.Share)), r.Spec)
		for _, kind := range coverage.Kinds() {
			if hit, n := r.Of(kind); n > 0 {
				p.line("%s", strings.TrimRight(fmt.Sprintf("  %-13s %2d of %-2d%s", kind, hit, n, p.uncovered(r, kind)), " "))
			}
		}
	}
}

// uncovered lists what of a kind was not exercised, after its figures.
func (p *testPrinter) uncovered(r coverage.Report, kind coverage.Kind) string {
	const indent, comma = 25, ", "
	var b strings.Builder
	at, columns := indent+len("never: "), ui.Columns(p.w)
	for _, it := range r.Uncovered() {
		if it.Kind != kind {
			continue
		}
		name := tty.Flat(it.Name)
		if it.Evaluations > 0 {
			name += fmt.Sprintf(" (tried %d times)", it.Evaluations)
		}
		switch {
		case b.Len() == 0:
			b.WriteString("  never: ")
		case at+len(comma)+tty.Width(name) > columns:
			b.WriteString(",\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteString(comma)
			at += len(comma)
		}
		b.WriteString(name)
		at += tty.Width(name)
	}
	return b.String()
}

// belowMinimum reports whether the coverage of a spec is below the minimum.
func (o *testOptions) belowMinimum(all []coverage.Report) bool {
	for _, r := range all {
		if r.Share < o.minCoverage {
			return true
		}
	}
	return false
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
