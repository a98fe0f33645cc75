package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
)

// rate writes a rate of n cases; none have none.
func rate(n int, of float64) string {
	if n == 0 {
		return "-"
	}
	return report.Percent(of)
}

// met writes how many of the graded trials passed.
func met(g *exprenv.GroupStats) string {
	if g.Trials == g.Errors {
		return "-"
	}
	return fmt.Sprintf("%d/%d", g.Passed, g.Trials-g.Errors)
}

// interval writes the bounds of a rate.
func interval(low, high float64) string {
	return fmt.Sprintf("%s to %s", strings.TrimSuffix(report.Percent(low), "%"), report.Percent(high))
}

// points writes the difference of two rates.
func points(d float64) string {
	if math.Abs(d) < 0.0005 && d != 0 {
		return fmt.Sprintf("%+.2f", 100*d)
	}
	return strings.Replace(fmt.Sprintf("%+.1f", 100*d), "+0.0", "0.0", 1)
}

// dollars writes an amount of money.
func dollars(usd float64) string { return fmt.Sprintf("$%.4f", usd) }

// pvalue writes a probability.
func pvalue(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.3f", p)
}

// seconds is a duration given in seconds.
func seconds(s float64) string {
	return tty.Span(time.Duration(s * float64(time.Second)))
}

// milliseconds is a duration given in milliseconds.
func milliseconds(ms float64) string { return seconds(ms / 1000) }

// label is a case with its variant.
func label(id, variant string) string {
	if variant == "" {
		return id
	}
	return id + " [" + variant + "]"
}

// tally writes passed trials of graded ones.
func tally(t report.PassCount) string { return fmt.Sprintf("%d/%d", t.C, t.N) }

// listed writes at most n names of a list, each on one line and not too long.
func listed(names []string, n int) string {
	short := make([]string, len(names))
	for i := range short {
		short[i] = tty.OneLine(names[i], nameWide)
	}
	return text.Some(short, n)
}

// apart says how the quarantined trials came out.
func apart(r *report.Report) string {
	n := len(r.Quarantined)
	out := text.Count(n, "quarantined case") + ", not counted"
	if h := r.QuarantinedStats; h != nil {
		out += fmt.Sprintf(" (passed %d of %s", h.Passed, text.Count(h.Trials-h.Errors, "trial"))
		if h.Errors > 0 {
			out += ", " + text.Count(h.Errors, "error")
		}
		out += ")"
	}
	return out
}

// priced says whether the costs of an evaluation are known: of all variants, of some, or of none.
func priced(m *report.Manifest) (all, some bool) {
	all = len(m.Variants) > 0
	for _, v := range m.Variants {
		all, some = all && v.Priced, some || v.Priced
	}
	return all, some
}

// scope says what was run: cases, variants, trials.
func scope(r *report.Report, cases int) string {
	parts := []string{text.Count(cases, "case")}
	if n := len(r.Manifest.Variants); n > 1 {
		parts = append(parts, text.Count(n, "variant"))
	}
	parts = append(parts, text.Count(r.Finished(), "trial")+" in "+tty.Span(time.Duration(r.DurationMS)*time.Millisecond))
	if r.Missing > 0 {
		parts = append(parts, fmt.Sprintf("%d not run", r.Missing))
	}
	return strings.Join(parts, ", ")
}

// consumed lists tokens and cost, and those of judges; money writes an amount.
func consumed(r *report.Report, money func(usd float64) string) string {
	parts := []string{tty.Amount(int(r.Stats.Tokens.Total)) + " tokens"}
	switch all, some := priced(&r.Manifest); {
	case all:
		parts = append(parts, money(r.Stats.Cost.Total))
	case some:
		parts = append(parts, "at least "+money(r.Stats.Cost.Total)+" (some LLMs have no price)")
	default:
		parts = append(parts, "cost unknown (no LLM has a price)")
	}
	if r.JudgeTokens > 0 || r.JudgeCost > 0 {
		parts = append(parts, fmt.Sprintf("judges: %s tokens, %s", tty.Amount(r.JudgeTokens), money(r.JudgeCost)))
	}
	return strings.Join(parts, "; ")
}
