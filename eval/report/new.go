package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/eval/baseline"
	"github.com/pexctl/pex/eval/trial"
)

// Version is the version of the report format. Fields are only ever added.
const Version = 1

// Options are the inputs of a report besides rows and manifest.
type Options struct {
	Suite    *suitespec.Suite // gates, quarantine, max_errors and baseline; nil = defaults
	Total    int              // planned number of trials; 0 = all repeats of the cases that have rows
	Ending   Ending
	Baseline *baseline.File // nil = not compared with a baseline
	Ref      string         // reference of the baseline as given; "" = as in the suite
}

// Ending is why an evaluation stopped running trials.
type Ending string

// The endings.
const (
	EndedDone      Ending = ""          // all trials ran
	EndedSuspended Ending = "suspended" // by a signal; can be resumed
	EndedBudget    Ending = "budget"    // by a limit of the suite
	EndedBroken    Ending = "broken"    // by too many errors, or an unavailable provider
)

// minClusters is the number of independent clusters below which an interval is called rough.
const minClusters = 30

// New computes the report of an evaluation. Rows may come in any order. If a key has several rows, the last one
// counts, and the rows are read a second time. New needs about 140 bytes of memory per case.
//
// Pass rates cover graded trials. Trials that ended in an error are only counted in Errors, and skipped ones only
// in CaseStats.Skipped. Mean and quantiles of cost, latency and tokens cover graded trials, totals all finished ones.
// Quarantined cases are excluded from everything except these totals; QuarantinedStats has their results.
func New(rows trial.Rows, m Manifest, o Options) (*Report, error) {
	q := quarantineOf(o.Suite, &m)
	g, err := gather(rows, &m, q, min(o.Total, 1<<20))
	if err != nil {
		return nil, err
	}
	s, clusters := g.stats()
	r := &Report{
		V: Version, Manifest: m, Stats: s, Cases: Cases{g.len(), g.caseAt},
		JudgeTokens: int(g.judgeTokens), JudgeCost: float64(g.judgeCost) / costUnit,
		Errors: g.errorCounts(), Missing: g.missing(&m, o.Total), QuarantinedStats: g.quarantinedStats(),
	}
	if !g.ended.IsZero() && !m.Started.IsZero() {
		r.DurationMS = max(0, g.ended.Sub(m.Started).Milliseconds())
	}
	g.warnVacuousPasses(r)
	g.release()
	r.listCases(q)
	r.warnUnusedQuarantine(q)
	r.warnStats(clusters)
	if o.Baseline != nil {
		r.Comparison = g.compare(r, o)
	}
	r.byCase(o, q)
	r.gates(o, q)
	r.decide(o)
	return r, nil
}

// missing returns the number of planned trials without a row.
func (g *gatherer) missing(m *Manifest, total int) int {
	if total == 0 {
		cases := 0
		for u := range g.units() {
			cases = int(u.number) + 1
		}
		total = cases * max(1, len(m.Variants)) * max(1, m.Repeat)
	}
	for _, t := range g.units() {
		total -= int(t.n) + int(t.errors) + int(t.skipped)
	}
	return max(0, total)
}

// errorCounts returns the errors by kind, most frequent first.
func (g *gatherer) errorCounts() []ErrorCount {
	var out []ErrorCount
	for kind, f := range g.faults {
		out = append(out, ErrorCount{kind, f.count, f.message})
	}
	slices.SortFunc(out, func(a, b ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// warnVacuousPasses warns about trials that passed although their run failed: without a check that requires an answer, an agent
// that does nothing passes.
func (g *gatherer) warnVacuousPasses(r *Report) {
	n := 0
	var codes []string
	for _, code := range slices.Sorted(maps.Keys(g.vacuousPasses)) {
		n += g.vacuousPasses[code]
		codes = append(codes, string(code))
	}
	if n > 0 {
		r.warning("%s passed although the run failed (%s): no check requires an answer; add trace.stop_reason == \"answered\"",
			plural(n, "trial", "trials"), strings.Join(codes, ", "))
	}
}

// listCases collects the lists of cases in the report.
func (r *Report) listCases(q *quarantine) {
	curtailed, ungraded := 0, 0
	for _, c := range r.Cases.All() {
		held := q.contains(c.ID)
		if c.Flaky && !held {
			r.FlakyCases = append(r.FlakyCases, label(c.ID, c.Variant))
		}
		if held && !slices.Contains(r.Quarantined[max(0, len(r.Quarantined)-1):], c.ID) {
			r.Quarantined = append(r.Quarantined, c.ID)
		}
		if c.Skipped > 0 {
			curtailed++
		}
		if c.N == 0 && !held {
			ungraded++
		}
	}
	if curtailed > 0 {
		r.warning("%s curtailed once their gate was decided: their rates cover only the trials that ran", were(curtailed, "case"))
	}
	if ungraded > 0 {
		r.warning("%s no graded trial: rates and gates leave them out", have(ungraded, "case"))
	}
}

// warnUnusedQuarantine warns about quarantine entries that match no case, because the case was renamed or the pattern is wrong.
func (r *Report) warnUnusedQuarantine(q *quarantine) {
	if r.Manifest.Filter != "" || r.Missing > 0 {
		return
	}
	for _, e := range slices.Concat(q.active, q.expired) {
		if !r.anyCase(e.Case) {
			r.warning("the quarantine entry %s matches no case: remove it, or fix its pattern (* matches any text)", e.Case)
		}
	}
}

// anyCase reports whether a pattern matches a case.
func (r *Report) anyCase(pattern string) bool {
	for _, c := range r.Cases.All() {
		if matches(pattern, c.ID) {
			return true
		}
	}
	return false
}

// warnStats adds warnings about the reliability of the statistics.
func (r *Report) warnStats(clusters int) {
	if clusters > 0 && clusters < minClusters {
		r.warning("the intervals are based on %s; with fewer than %d they are rough",
			plural(clusters, "independent case or group", "independent cases or groups"), minClusters)
	}
	for _, v := range r.Manifest.Variants {
		if !v.Priced {
			r.warning("costs%s are incomplete: an LLM has no price; add cost: {input, output} to it", ofVariant(v.Name))
		}
	}
}

func ofVariant(name string) string {
	if name == "" {
		return ""
	}
	return " of " + name
}

func (r *Report) warning(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// label names a case under a variant.
func label(id, variant string) string {
	if variant == "" {
		return id
	}
	return id + " [" + variant + "]"
}

// env returns the variables of gates.
func (r *Report) env() map[string]any {
	e := map[string]any{"stats": r.Stats, "baseline": exprenv.Stats{}}
	if r.Comparison != nil {
		e["baseline"] = r.Comparison.Baseline
	}
	return e
}
