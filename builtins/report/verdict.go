package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
)

// headline returns the suite and the verdict in a few words, without the reason.
func headline(r *report.Report) (mark, string) {
	return markOf(r.Verdict), fmt.Sprintf("%s: %s", r.Manifest.Suite, verdictWords(r.Verdict))
}

func markOf(v report.Verdict) mark {
	switch v {
	case report.VerdictPassed:
		return good
	case report.VerdictFailed, report.VerdictRegressed, report.VerdictBroken:
		return wrong
	case report.VerdictInconclusive, report.VerdictBudget, report.VerdictIncomplete:
		return unsure
	}
	return unsure
}

func verdictWords(v report.Verdict) string {
	switch v {
	case report.VerdictPassed, report.VerdictFailed, report.VerdictRegressed, report.VerdictInconclusive:
		return string(v)
	case report.VerdictBudget:
		return "stopped by a limit"
	case report.VerdictBroken:
		return "broken: too many errors"
	case report.VerdictIncomplete:
		return "incomplete"
	}
	return string(v)
}

// comparisonMark returns the mark of a comparison's verdict.
func comparisonMark(c *report.Comparison) mark {
	switch c.Verdict {
	case "regressed":
		return wrong
	case "non-inferior":
		return good
	}
	return unsure
}

// baselineName returns the name of the baseline of a comparison.
func baselineName(c *report.Comparison) string {
	const short = 8
	if len(c.Commit) > short {
		return fmt.Sprintf("%s (%s)", c.Ref, c.Commit[:short])
	}
	return c.Ref
}

// difference describes the difference of two evaluations in a sentence.
func difference(c *report.Comparison, now float64) string {
	return fmt.Sprintf("pass rate %s, was %s: %s points (95%% interval %s to %s), %s by %s, %s in both",
		report.Percent(now), report.Percent(c.Baseline.PassRate), points(c.Difference), points(c.CILow), points(c.CIHigh), pvalue(c.P), c.Test, text.Count(c.Paired, "case"))
}

// variantWords describes the difference of one variant.
func variantWords(v *report.VariantChange) string {
	return fmt.Sprintf("%s points (95%% interval %s to %s), %s, %s", points(v.Difference), points(v.CILow), points(v.CIHigh), pvalue(v.P), text.Count(v.Paired, "case"))
}

// power describes the smallest drop that the comparison can detect.
func power(c *report.Comparison) string {
	if c.Verdict != "inconclusive" {
		return ""
	}
	text := fmt.Sprintf("minimum detectable drop at 80%% power: %.1f points", 100*math.Abs(c.Detectable))
	if c.CasesNeeded > 0 {
		text += fmt.Sprintf("; about %d cases are needed for a margin of %.1f points", c.CasesNeeded, 100*c.Margin)
	}
	return text
}

// failureReason returns the short reason why a case failed.
func failureReason(c *report.CaseStats) string {
	switch {
	case c.Check == "" || strings.HasPrefix(c.Why, strings.TrimSuffix(c.Check, "…")): // the name of an expression is its source
		return c.Why
	case c.Why == "":
		return c.Check
	}
	return c.Check + ": " + c.Why
}

// trialsText describes the results of the trials of a case.
func trialsText(c *report.CaseStats) string {
	var parts []string
	if c.N > 0 {
		parts = append(parts, fmt.Sprintf("%d/%d", c.Passed, c.N))
	}
	if c.Errors > 0 {
		parts = append(parts, text.Count(c.Errors, "error"))
	}
	return strings.Join(parts, ", ")
}
