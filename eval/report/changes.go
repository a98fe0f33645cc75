package report

import (
	"cmp"
	"slices"

	"github.com/pexctl/pex/eval/stat"
)

// The kinds of changes of a case.
const (
	ChangeRegressed = "regressed" // its rate fell significantly
	ChangeImproved  = "improved"
	ChangeFlaky     = "flaky"   // it always passed or always failed before, and no longer does
	ChangeOther     = "changed" // not significant
)

// Direction describes how a case changed, for display.
type Direction string

// The directions. They do not imply significance; see CaseChange.P.
const (
	NewlyFailing   Direction = "newly failing"    // it passed every trial of the baseline
	NewlyPassing   Direction = "newly passing"    // it passes every trial now
	FailsMoreOften Direction = "fails more often" // it failed some trials of the baseline already
	FailsLessOften Direction = "fails less often" // it still fails some trials
)

// Direction returns how the case changed.
func (c *CaseChange) Direction() Direction {
	fell := c.After.C*c.Before.N < c.Before.C*c.After.N
	switch {
	case fell && c.Before.C == c.Before.N:
		return NewlyFailing
	case fell:
		return FailsMoreOften
	case c.After.C == c.After.N:
		return NewlyPassing
	}
	return FailsLessOften
}

// falseShare is the false discovery rate of changes classified as regressed or improved.
const falseShare = 0.05

// changes lists the cases whose rate changed, worst first.
func (g *gatherer) changes(pairs []pair) []CaseChange {
	adjusted := stat.Adjust(fisherPValues(pairs))
	for i := range adjusted {
		adjusted[i] = figure(adjusted[i])
	}
	var changed []int
	for i := range pairs {
		if pairs[i].change() != 0 {
			changed = append(changed, i)
		}
	}
	slices.SortFunc(changed, func(a, b int) int {
		return cmp.Or(cmp.Compare(pairs[a].change(), pairs[b].change()), cmp.Compare(adjusted[a], adjusted[b]), cmp.Compare(a, b))
	})
	out := make([]CaseChange, 0, len(changed))
	for _, i := range changed {
		p := &pairs[i]
		out = append(out, CaseChange{
			Case: p.id, Variant: g.variants.list[g.at(int(g.order[p.order])).variant],
			Before: p.before, After: p.after, P: adjusted[i], Kind: p.kind(adjusted[i]),
		})
	}
	return out
}

// fisherPValues returns the p-value of each pair. It caches results, since few distinct pairs occur.
func fisherPValues(pairs []pair) []float64 {
	type table struct{ before, after PassCount }
	known := map[table]float64{}
	out := make([]float64, len(pairs))
	for i := range pairs {
		t := table{pairs[i].before, pairs[i].after}
		p, ok := known[t]
		if !ok {
			p = stat.Fisher(t.before.C, t.before.N, t.after.C, t.after.N)
			known[t] = p
		}
		out[i] = p
	}
	return out
}

func (p *pair) kind(adjusted float64) string {
	switch {
	case adjusted < falseShare && p.change() < 0:
		return ChangeRegressed
	case adjusted < falseShare:
		return ChangeImproved
	case !p.before.mixed() && p.after.mixed():
		return ChangeFlaky
	}
	return ChangeOther
}

// mixed reports whether some trials passed and some did not.
func (t PassCount) mixed() bool { return t.C > 0 && t.C < t.N }
