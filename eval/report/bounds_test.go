package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

func TestMissingCountsVariantsAndRepeats(t *testing.T) {
	rows := func() []*trial.Row {
		return numbered([]*trial.Row{row("a", "x", 1, true), row("b", "x", 1, true), row("c", "x", 1, true)})
	}
	for _, c := range []struct {
		repeat   int
		variants []string
		missing  int
	}{
		{3, []string{"x", "y"}, 3*2*3 - 3},
		{3, []string{"x"}, 3*3 - 3},
		{1, []string{"x", "y"}, 2*3 - 3},
		{0, []string{"x"}, 0},
		{1, []string{"x"}, 0},
	} {
		if got := foldRows(t, rows(), manifest(c.repeat, c.variants...), report.Options{}).Missing; got != c.missing {
			t.Errorf("repeat %d, variants %q: %d missing, want %d", c.repeat, c.variants, got, c.missing)
		}
	}
}

// Intervals are called rough with fewer than thirty independent cases or groups, except with none, or if each case
// is one trial, where the interval is exact.
func TestFewClustersAreWarnedAbout(t *testing.T) {
	for _, c := range []struct {
		cases, groups, trials int // groups 0 = each case is independent
		rough                 bool
	}{{0, 0, 2, false}, {1, 0, 2, true}, {29, 0, 2, true}, {30, 0, 2, false}, {29, 0, 1, false}, {60, 29, 1, true}, {60, 30, 1, false}} {
		var rows []*trial.Row
		for i := range c.cases {
			for n := range c.trials {
				r := row(fmt.Sprint("case", i), "", n+1, (i+n)%3 > 0)
				if c.groups > 0 {
					r.Group = fmt.Sprint("group", i%c.groups)
				}
				rows = append(rows, r)
			}
		}
		warnings := foldRows(t, numbered(rows), manifest(c.trials), report.Options{}).Warnings
		if got := slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "independent") }); got != c.rough {
			t.Errorf("%d cases in %d groups, %d trials each: warned %v, want %v: %q", c.cases, c.groups, c.trials, got, c.rough, warnings)
		}
	}
}
