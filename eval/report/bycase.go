package report

import (
	"maps"
	"slices"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/eval/baseline"
)

// byCase sets the statistics per case if a gate uses them. Otherwise they are omitted, since large suites would
// need a second copy of their cases.
func (r *Report) byCase(o Options, q *quarantine) {
	named := func(g suitespec.Gate) bool { return mentions(g.When.Source, "by_case") }
	if !slices.ContainsFunc(gatesOf(o.Suite), named) {
		return
	}
	all := joined{}
	for _, c := range r.Cases.All() {
		if q.contains(c.ID) {
			all.add(exprenv.Case{ID: c.ID, Group: c.Group})
			continue
		}
		all.add(c.Case)
	}
	r.Stats.ByCase = all
	if r.Comparison != nil {
		r.Comparison.Baseline.ByCase = casesOf(o.Baseline)
	}
}

// casesOf returns the statistics per case of a baseline, which has no errors or groups.
func casesOf(b *baseline.File) joined {
	all := joined{}
	for i := range b.Cases {
		c := &b.Cases[i]
		all.add(exprenv.Case{ID: c.Case, N: c.N, Passed: c.C, Score: c.Score})
	}
	return all
}

// joined has cases by id, with the trials of all variants combined.
type joined map[string]exprenv.Case

// add adds a case under one variant.
func (j joined) add(c exprenv.Case) {
	was, there := j[c.ID]
	if n := was.N + c.N; there && n > 0 {
		c.Score = figure((was.Score*float64(was.N) + c.Score*float64(c.N)) / float64(n))
	}
	c.Variant = ""
	c.N, c.Passed, c.Errors = was.N+c.N, was.Passed+c.Passed, was.Errors+c.Errors
	setRates(&c)
	j[c.ID] = c
}

// keysOf returns the sorted keys of a part of the statistics.
func keysOf(s *exprenv.Stats, kind string) []string {
	switch kind {
	case "by_group":
		return slices.Sorted(maps.Keys(s.ByGroup))
	case "by_variant":
		return slices.Sorted(maps.Keys(s.ByVariant))
	case "by_case":
		return slices.Sorted(maps.Keys(s.ByCase))
	default:
		return slices.Sorted(maps.Keys(s.ByCheck))
	}
}
