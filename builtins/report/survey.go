package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/eval/report"
)

// part is a row of the table of rates: all cases, a variant or a group.
type part struct {
	Name string
	exprenv.GroupStats
	means
	measured bool // means are known
}

// means are averages per trial.
type means struct{ cost, latencyMS, tokens float64 }

// survey is a summary of all cases.
type survey struct {
	all      part
	variants []part // more than one, or none
	groups   []part // worst first
	worst    []report.CaseStats
	bad      int // cases, per variant, that did not pass completely and are not quarantined
	cases    int // cases, regardless of variants
}

// newSurvey summarizes a report. most is the maximum number of worst cases.
func newSurvey(r *report.Report, most int) *survey {
	s := &survey{}
	sums, graded := map[string]*means{}, map[string]float64{}
	last := ""
	for i, c := range r.Cases.All() {
		if i == 0 || c.ID != last { // variants of a case are adjacent
			s.cases, last = s.cases+1, c.ID
		}
		if isBad(&c) && !quarantined(r, &c) {
			s.bad++
			s.addWorst(c, most)
		}
		if quarantined(r, &c) {
			continue
		}
		m, n := sums[c.Variant], float64(c.N)
		if m == nil {
			m = &means{}
			sums[c.Variant] = m
		}
		m.cost, m.latencyMS, m.tokens = m.cost+n*c.Cost, m.latencyMS+n*c.LatencyMS, m.tokens+n*c.Tokens
		graded[c.Variant] += n
	}
	s.all = allCases(&r.Stats)
	if len(r.Stats.ByVariant) > 1 {
		s.variants = parts(r.Stats.ByVariant, variantNames(r))
		for i := range s.variants {
			p := &s.variants[i]
			if m, n := sums[p.Name], graded[p.Name]; m != nil && n > 0 {
				p.means, p.measured = means{m.cost / n, m.latencyMS / n, m.tokens / n}, true
			}
		}
	}
	s.groups = groups(r.Stats.ByGroup)
	return s
}

func allCases(st *exprenv.Stats) part {
	return part{
		Name:       "all",
		GroupStats: exprenv.GroupStats{N: st.N, Trials: st.Trials, Passed: st.Passed, Errors: st.Errors, PassRate: st.PassRate, CILow: st.CILow, CIHigh: st.CIHigh},
		means:      means{st.Cost.Mean, 1000 * st.Latency.Mean, st.Tokens.Mean},
		measured:   true,
	}
}

// variantNames returns the variants in suite order, followed by unknown ones.
func variantNames(r *report.Report) []string {
	var out []string
	for _, v := range r.Manifest.Variants {
		out = append(out, v.Name)
	}
	return append(out, unknownNames(r.Stats.ByVariant, out)...)
}

// checkNames returns the checks in suite order, followed by unknown ones.
func checkNames(r *report.Report) []string {
	var out []string
	for _, c := range r.Manifest.Checks {
		out = append(out, c.Name)
	}
	return append(out, unknownNames(r.Stats.ByCheck, out)...)
}

func unknownNames(all map[string]exprenv.GroupStats, known []string) []string {
	names := slices.Sorted(maps.Keys(all))
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(known, name) })
}

func parts(of map[string]exprenv.GroupStats, names []string) []part {
	var out []part
	for _, name := range names {
		if g, ok := of[name]; ok {
			out = append(out, part{Name: name, GroupStats: g})
		}
	}
	return out
}

// groups returns the groups, worst first.
func groups(of map[string]exprenv.GroupStats) []part {
	out := parts(of, slices.Sorted(maps.Keys(of)))
	slices.SortStableFunc(out, func(a, b part) int { return cmp.Compare(a.PassRate, b.PassRate) })
	return out
}

// isBad reports whether a case did not pass completely.
func isBad(c *report.CaseStats) bool { return c.Passed < c.N || c.Errors > 0 }

// addWorst adds a case to the worst cases, if it is one of them.
func (s *survey) addWorst(c report.CaseStats, most int) {
	i, _ := slices.BinarySearchFunc(s.worst, c, func(a, b report.CaseStats) int { return cmp.Or(worse(&a, &b), -1) })
	if i >= most {
		return
	}
	s.worst = slices.Insert(s.worst, i, c)
	s.worst = s.worst[:min(len(s.worst), most)]
}

// worse orders cases by severity: graded cases that failed, lowest rate first, then cases
// without a result.
func worse(a, b *report.CaseStats) int {
	return cmp.Or(
		cmp.Compare(rank(a), rank(b)),
		cmp.Compare(a.PassRate, b.PassRate),
		cmp.Compare(b.N-b.Passed, a.N-a.Passed),
		cmp.Compare(b.Errors, a.Errors),
	)
}

func rank(c *report.CaseStats) int {
	switch {
	case c.Passed < c.N:
		return 0
	case c.N == 0:
		return 1
	}
	return 2
}
