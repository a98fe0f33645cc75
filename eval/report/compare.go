package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/eval/baseline"
	"github.com/pexctl/pex/eval/stat"
)

// The verdicts of a comparison.
const (
	Regressed    = "regressed"
	NonInferior  = "non-inferior"
	Inconclusive = "inconclusive"
)

// defaultMargin is the drop of the pass rate that counts as non-inferior.
const defaultMargin = 0.02

// pair is a case under a variant that is in both evaluations.
type pair struct {
	unit   unit
	id     string
	order  int // in the report
	before PassCount
	after  PassCount
}

func (p *pair) change() float64 { return p.after.rate() - p.before.rate() }

func (t PassCount) rate() float64 { return float64(t.C) / float64(t.N) }

// compare compares the evaluation with a baseline, case by case.
func (g *gatherer) compare(r *Report, o Options) *Comparison {
	b := o.Baseline
	c := &Comparison{Ref: o.Ref, Commit: b.Commit, Margin: marginOf(o.Suite), Baseline: b.Stats, GradingChange: b.Grading != r.Manifest.Grading}
	if o.Suite != nil {
		c.Ref = cmp.Or(c.Ref, o.Suite.Baseline.Ref)
	}
	pairs, held := g.pairs(c, b)
	if r.Manifest.Filter != "" || r.Missing > 0 && o.Total > 0 {
		c.Removed = nil // not selected, or not run yet
	}
	if n := g.len() - len(pairs) - len(c.Added) - held; n > 0 {
		r.warning("%s no graded trial and cannot be compared with the baseline", have(n, "case"))
	}
	if b.Suite != "" && b.Suite != r.Manifest.Suite {
		r.warning("the baseline belongs to the suite %s", b.Suite)
	}
	c.computePaired(pairs)
	c.Verdict = c.verdict()
	if c.ByVariant = g.byVariant(pairs, c.Margin); c.worseVariant() != nil {
		c.Verdict = Regressed
	}
	c.Changes = g.changes(pairs)
	if c.GradingChange {
		c.Verdict = Inconclusive
		r.warning("the baseline was graded by other checks or another judge, so the results cannot be compared: pexctl eval score grades its rows again, pexctl eval bless replaces the baseline")
	}
	return c
}

// pairs returns the cases that are in both evaluations, in order, and records the others in c. Quarantined cases
// are in neither; held is their number.
func (g *gatherer) pairs(c *Comparison, b *baseline.File) (pairs []pair, held int) {
	index := make([]int32, len(b.Cases))
	for i := range index {
		index[i] = int32(i)
	}
	order := func(i int32, id, variant string) int {
		return cmp.Or(cmp.Compare(b.Cases[i].Case, id), cmp.Compare(b.Cases[i].Variant, variant))
	}
	slices.SortFunc(index, func(i, j int32) int { return order(i, b.Cases[j].Case, b.Cases[j].Variant) })
	found := make([]bool, len(b.Cases))
	pairs = make([]pair, 0, min(g.len(), len(b.Cases)))
	k := -1
	for u, t := range g.units() {
		k++
		variant := g.variants.list[t.variant]
		at, ok := slices.BinarySearchFunc(index, t.id, func(i int32, id string) int { return order(i, id, variant) })
		if t.quarantined {
			held++
			if ok {
				found[index[at]] = true
			}
			continue
		}
		if !ok {
			c.Added = append(c.Added, label(t.id, variant))
			continue
		}
		was := &b.Cases[index[at]]
		found[index[at]] = true
		if u.n > 0 && was.N > 0 {
			pairs = append(pairs, pair{u, t.id, k, PassCount{was.C, was.N}, PassCount{u.c, u.n}})
		}
	}
	for i := range b.Cases {
		if !found[i] {
			c.Removed = append(c.Removed, label(b.Cases[i].Case, b.Cases[i].Variant))
		}
	}
	return pairs, held
}

// computePaired computes the statistics of the pairs.
func (c *Comparison) computePaired(pairs []pair) {
	ds, plain := differences(pairs)
	var worse, better int
	sums := stat.Sums(ds)
	for i := range pairs {
		switch d := pairs[i].change(); {
		case d < 0:
			worse++
		case d > 0:
			better++
		}
	}
	c.Paired = len(pairs)
	c.Difference = figure(stat.Mean(sums))
	if plain {
		c.Test, c.P = "exact McNemar", stat.McNemar(worse, better)
	} else {
		c.Test, c.P = "sign-flip permutation", stat.SignFlip(sums)
	}
	i := stat.Change(ds)
	c.P, c.CILow, c.CIHigh = figure(c.P), figure(i.Low), figure(i.High)
	c.Detectable = figure(stat.Detectable(i))
	if c.verdict() == Inconclusive {
		if n, ok := stat.Needed(i, len(pairs), c.Difference, c.Margin); ok {
			c.CasesNeeded = n
		}
	}
}

// differences combines pairs of the same cluster. plain reports that there were none, and that each pair compares
// one trial with one trial.
func differences(pairs []pair) (ds []stat.Difference, plain bool) {
	plain = true
	groups := map[int32]int{}
	last := int32(-1)
	for i := range pairs {
		p := &pairs[i]
		k := len(ds)
		switch own := p.unit.cluster < 0; {
		case own && p.unit.number == last:
			k--
		case !own:
			if at, ok := groups[p.unit.cluster]; ok {
				k = at
			} else {
				groups[p.unit.cluster] = k
			}
		}
		if k == len(ds) {
			ds = append(ds, stat.Difference{})
		} else {
			plain = false
		}
		last = p.unit.number
		ds[k].Add(p.unit.weight, p.change())
		plain = plain && p.before.N == 1 && p.after.N == 1 && p.unit.weight == pairs[0].unit.weight
	}
	return ds, plain
}

// verdict interprets the interval. A drop that is certainly smaller than the margin is non-inferior, even if it is
// significant. A regression also needs a significant test, because intervals based on few changes are imprecise.
func (c *Comparison) verdict() string {
	switch {
	case c.Paired == 0:
		return Inconclusive
	case c.CILow > -c.Margin:
		return NonInferior
	case c.CIHigh < 0 && c.P <= 0.05:
		return Regressed
	}
	return Inconclusive
}

// sentence describes the comparison.
func (c *Comparison) sentence() string {
	against := "the baseline"
	if c.Ref != "" {
		against = c.Ref
	}
	if c.Paired == 0 {
		return "no case can be compared with " + against
	}
	figures := fmt.Sprintf("%s points (95%% interval %s to %s, p = %.3g, %s)", points(c.Difference), points(c.CILow), points(c.CIHigh), c.P, plural(c.Paired, "case", "cases"))
	switch {
	case c.GradingChange:
		return "the checks differ from those of " + against + ", so the pass rates cannot be compared"
	case c.Verdict == Regressed && c.verdict() != Regressed:
		v := c.worseVariant()
		return fmt.Sprintf("the pass rate of variant %s changed by %s points compared with %s (95%% interval %s to %s, p = %.3g, %s)",
			v.Variant, points(v.Difference), against, points(v.CILow), points(v.CIHigh), v.P, plural(v.Paired, "case", "cases"))
	case c.Verdict == Regressed:
		return "the pass rate is worse than in " + against + ": " + figures
	case c.Verdict == NonInferior:
		return "non-inferior to " + against + ": the pass rate changed by " + figures
	}
	text := "inconclusive: too few cases to compare with " + against + ": the pass rate changed by " + figures
	if c.CasesNeeded > 0 {
		text += fmt.Sprintf("; about %d cases are needed", c.CasesNeeded)
	}
	return text
}

// marginOf returns the margin of a suite.
func marginOf(s *suitespec.Suite) float64 {
	if s == nil {
		return defaultMargin
	}
	return s.Baseline.Margin
}

// byVariant compares each variant with the baseline, in the order of the manifest. It returns nil if there is only
// one.
func (g *gatherer) byVariant(pairs []pair, margin float64) []VariantChange {
	parts, order := map[uint16][]pair{}, []uint16(nil)
	for i := range pairs {
		v := g.at(int(g.order[pairs[i].order])).variant
		if parts[v] == nil {
			order = append(order, v)
		}
		parts[v] = append(parts[v], pairs[i])
	}
	if len(parts) < 2 {
		return nil
	}
	out := make([]VariantChange, 0, len(order))
	for _, v := range order {
		var c Comparison
		c.computePaired(parts[v])
		c.P = min(1, c.P*float64(len(order)))
		out = append(out, VariantChange{
			Variant: g.variants.list[v], Paired: c.Paired, Difference: c.Difference, CILow: c.CILow, CIHigh: c.CIHigh,
			P: c.P, Regressed: c.CILow <= -margin && c.CIHigh < 0 && c.P <= 0.05,
		})
	}
	return out
}

// worseVariant returns the regressed variant with the largest drop, or nil. A drop that is certainly within the
// margin is not a regression.
func (c *Comparison) worseVariant() *VariantChange {
	i := slices.IndexFunc(c.ByVariant, func(v VariantChange) bool { return v.Regressed })
	if i < 0 {
		return nil
	}
	worst := slices.MinFunc(c.ByVariant, func(a, b VariantChange) int {
		return cmp.Compare(regression(a), regression(b))
	})
	return &worst
}

func regression(v VariantChange) float64 {
	if !v.Regressed {
		return 0
	}
	return v.Difference
}
