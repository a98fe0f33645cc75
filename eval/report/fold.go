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

// Version is that of reports: fields are only ever added.
const Version = 1

// Options are what a report needs beside rows and manifest.
type Options struct {
	Suite    *suitespec.Suite // its gates, quarantine, max_errors and baseline; nil = none of its own
	Total    int              // trials that were to run; 0 = all repeats of the cases that have rows
	Ending   Ending
	Baseline *baseline.File // nil = not compared with a baseline
	Ref      string         // of the baseline, as asked for; "" = as the suite says
}

// Ending is why no more trials were run.
type Ending string

// The endings.
const (
	EndedDone      Ending = ""          // all had their turn
	EndedSuspended Ending = "suspended" // by a signal, to be resumed
	EndedBudget    Ending = "budget"    // by a limit of the suite
	EndedBroken    Ending = "broken"    // by too many errors, or a provider that is not there
)

// minClusters is how many independent parts an interval should rest on.
const minClusters = 30

// New makes the report of an evaluation. Rows may come in any order; of
// several rows of one key the last counts, for which they are read a second
// time. What it keeps of a case is some 140 bytes.
//
// A case's rate is of its graded trials: those that ended in an error are
// counted in Errors, skipped ones nowhere but in CaseStats.Skipped. Mean and
// quantiles of cost, latency and tokens are of graded trials, totals of all
// finished ones. Cases in quarantine are in no figure but those totals and Held,
// in no gate and in no comparison: what they come to is told apart.
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
		Errors: g.errorCounts(), Missing: g.missing(&m, o.Total), QuarantinedStats: g.heldApart(),
	}
	if !g.ended.IsZero() && !m.Started.IsZero() {
		r.DurationMS = max(0, g.ended.Sub(m.Started).Milliseconds())
	}
	g.vain(r)
	g.done()
	r.look(q)
	r.idle(q)
	r.warn(clusters)
	if o.Baseline != nil {
		r.Comparison = g.compare(r, o)
	}
	r.byCase(o, q)
	r.gates(o, q)
	r.decide(o)
	return r, nil
}

// missing is how many trials that were to run have no row.
func (g *gathering) missing(m *Manifest, total int) int {
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

// errorCounts lists the kinds of errors, the most frequent first.
func (g *gathering) errorCounts() []ErrorCount {
	var out []ErrorCount
	for kind, f := range g.faults {
		out = append(out, ErrorCount{kind, f.count, f.message})
	}
	slices.SortFunc(out, func(a, b ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// vain warns of trials that passed though their run came to nothing: checks that
// only forbid, or bound, let an agent pass that does nothing at all.
func (g *gathering) vain(r *Report) {
	n := 0
	var codes []string
	for _, code := range slices.Sorted(maps.Keys(g.hollow)) {
		n += g.hollow[code]
		codes = append(codes, string(code))
	}
	if n > 0 {
		r.warning("%s passed although the run failed (%s): no check requires an answer; add trace.stop_reason == \"answered\"",
			plural(n, "trial", "trials"), strings.Join(codes, ", "))
	}
}

// look goes through the cases once for what the report lists of them.
func (r *Report) look(q *quarantine) {
	curtailed, ungraded := 0, 0
	for _, c := range r.Cases.All() {
		held := q.holds(c.ID)
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

// idle says which entries of the quarantine are for no case: the case has another
// name by now, or the pattern never fitted.
func (r *Report) idle(q *quarantine) {
	if r.Manifest.Filter != "" || r.Missing > 0 {
		return
	}
	for _, e := range slices.Concat(q.standing, q.over) {
		if !r.anyCase(e.Case) {
			r.warning("the quarantine entry %s matches no case: remove it, or fix its pattern (* matches any text)", e.Case)
		}
	}
}

// anyCase says whether a pattern is for a case there is.
func (r *Report) anyCase(pattern string) bool {
	for _, c := range r.Cases.All() {
		if matches(pattern, c.ID) {
			return true
		}
	}
	return false
}

// warn says what the figures do not.
func (r *Report) warn(clusters int) {
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

// env is what gates see.
func (r *Report) env() map[string]any {
	e := map[string]any{"stats": r.Stats, "baseline": exprenv.Stats{}}
	if r.Comparison != nil {
		e["baseline"] = r.Comparison.Baseline
	}
	return e
}
