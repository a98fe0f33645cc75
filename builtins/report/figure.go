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

// rate formats a rate of n cases, "-" if n is 0.
func rate(n int, of float64) string {
	if n == 0 {
		return "-"
	}
	return report.Percent(of)
}

// passRate formats how many of the graded trials passed.
func passRate(g *exprenv.GroupStats) string {
	if g.Trials == g.Errors {
		return "-"
	}
	return fmt.Sprintf("%d/%d", g.Passed, g.Trials-g.Errors)
}

// interval formats a confidence interval.
func interval(low, high float64) string {
	return fmt.Sprintf("%s to %s", strings.TrimSuffix(report.Percent(low), "%"), report.Percent(high))
}

// points formats the difference of two rates in percentage points.
func points(d float64) string {
	if math.Abs(d) < 0.0005 && d != 0 {
		return fmt.Sprintf("%+.2f", 100*d)
	}
	return strings.Replace(fmt.Sprintf("%+.1f", 100*d), "+0.0", "0.0", 1)
}

// dollars formats an amount in USD.
func dollars(usd float64) string { return fmt.Sprintf("$%.4f", usd) }

// pvalue formats a p-value.
func pvalue(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.3f", p)
}

// seconds formats a duration given in seconds.
func seconds(s float64) string {
	return text.Duration(time.Duration(s * float64(time.Second)))
}

// milliseconds formats a duration given in milliseconds.
func milliseconds(ms float64) string { return seconds(ms / 1000) }

// label returns the name of a case, with its variant if there is one.
func label(id, variant string) string {
	if variant == "" {
		return id
	}
	return id + " [" + variant + "]"
}

// tally formats the number of passed and graded trials.
func tally(t report.PassCount) string { return fmt.Sprintf("%d/%d", t.C, t.N) }

// joinNames joins at most n names, each on one line and truncated.
func joinNames(names []string, n int) string {
	short := make([]string, len(names))
	for i := range short {
		short[i] = tty.OneLine(names[i], nameWide)
	}
	return text.Some(short, n)
}

// quarantineText formats the results of quarantined cases.
func quarantineText(r *report.Report) string {
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

// priced reports whether the costs of all variants, or of some, are known.
func priced(m *report.Manifest) (all, some bool) {
	all = len(m.Variants) > 0
	for _, v := range m.Variants {
		all, some = all && v.Priced, some || v.Priced
	}
	return all, some
}

// scope formats what was run: cases, variants, trials.
func scope(r *report.Report, cases int) string {
	parts := []string{text.Count(cases, "case")}
	if n := len(r.Manifest.Variants); n > 1 {
		parts = append(parts, text.Count(n, "variant"))
	}
	parts = append(parts, text.Count(r.Finished(), "trial")+" in "+text.Duration(time.Duration(r.DurationMS)*time.Millisecond))
	if r.Missing > 0 {
		parts = append(parts, fmt.Sprintf("%d not run", r.Missing))
	}
	return strings.Join(parts, ", ")
}

// usageText formats tokens and cost, including those of judges. money formats an amount.
func usageText(r *report.Report, money func(usd float64) string) string {
	parts := []string{text.Amount(int(r.Stats.Tokens.Total)) + " tokens"}
	switch all, some := priced(&r.Manifest); {
	case all:
		parts = append(parts, money(r.Stats.Cost.Total))
	case some:
		parts = append(parts, "at least "+money(r.Stats.Cost.Total)+" (some LLMs have no price)")
	default:
		parts = append(parts, "cost unknown (no LLM has a price)")
	}
	if r.JudgeTokens > 0 || r.JudgeCost > 0 {
		parts = append(parts, fmt.Sprintf("judges: %s tokens, %s", text.Amount(r.JudgeTokens), money(r.JudgeCost)))
	}
	return strings.Join(parts, "; ")
}
