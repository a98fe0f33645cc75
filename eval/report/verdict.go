package report

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/engine/text"
)

// ToleratedErrors is the default for the share of trials that may end in an error.
const ToleratedErrors = 0.05

// decide sets the verdict. Reasons why the evaluation says nothing take precedence over bad results.
func (r *Report) decide(o Options) {
	switch {
	case o.Ending == EndedBroken || r.tooManyErrors(o.Suite) || r.nothingGraded():
		r.conclude(VerdictBroken, r.brokenReason(o.Suite))
	case o.Ending == EndedBudget:
		r.conclude(VerdictBudget, fmt.Sprintf("a limit of the suite stopped the evaluation after %d of %d trials", r.run(), r.run()+r.Missing))
	case o.Ending == EndedSuspended || r.Missing > 0:
		r.conclude(VerdictIncomplete, fmt.Sprintf("%d of %d trials have run; resume the evaluation to run the rest", r.run(), r.run()+r.Missing))
	case len(r.failedGates()) > 0:
		r.conclude(VerdictFailed, r.failedReason(o.Suite))
	case r.lostCoverage():
		r.conclude(VerdictFailed, fmt.Sprintf("lost coverage: %s missing (%s)",
			plural(len(r.Comparison.Removed), "case of the baseline is", "cases of the baseline are"), text.Some(r.Comparison.Removed, maxListed)))
	case r.allQuarantined():
		r.conclude(VerdictPassed, "every case that ran is quarantined, so no gate applies")
	case r.Comparison != nil && r.Comparison.Verdict == Regressed:
		r.conclude(VerdictRegressed, r.Comparison.sentence())
	case r.Comparison != nil && r.Comparison.Verdict == Inconclusive:
		r.inconclusive(o.Suite)
	default:
		r.conclude(VerdictPassed, r.passedReason(o.Suite))
	}
}

func (r *Report) conclude(v Verdict, reason string) {
	r.Verdict, r.Reason, r.ExitCode = v, reason, exitCodes[v]
}

var exitCodes = map[Verdict]int{
	VerdictPassed: 0, VerdictFailed: 1, VerdictRegressed: 1, VerdictBroken: 3, VerdictInconclusive: 4, VerdictBudget: 4, VerdictIncomplete: 130,
}

// run returns the number of trials with a row.
func (r *Report) run() int {
	n := r.Finished()
	for _, c := range r.Cases.All() {
		n += c.Skipped
	}
	return n
}

// tooManyErrors reports whether more trials ended in an error than allowed.
func (r *Report) tooManyErrors(s *suitespec.Suite) bool {
	return float64(r.Stats.Errors) > r.maxErrors(s)+1e-9
}

// nothingGraded reports whether all trials ran and none could be graded, which makes the result unusable whatever
// the number of tolerated errors.
func (r *Report) nothingGraded() bool {
	if r.allQuarantined() && r.QuarantinedStats.N > 0 {
		return false
	}
	return r.Stats.Passed+r.Stats.Failed == 0 && r.Missing == 0
}

// maxErrors returns the number of trials that may end in an error.
func (r *Report) maxErrors(s *suitespec.Suite) float64 {
	trials := float64(r.Stats.Trials + r.Missing)
	switch {
	case s == nil:
		return ToleratedErrors * trials
	case s.MaxErrors.Count >= 0 && s.MaxErrors.Share == 0:
		return float64(s.MaxErrors.Count)
	case s.MaxErrors.Share > 0:
		return s.MaxErrors.Share * trials
	}
	return ToleratedErrors * trials
}

func (r *Report) brokenReason(s *suitespec.Suite) string {
	if r.allQuarantined() {
		return "every case that ran is quarantined, and no trial could be graded"
	}
	if r.Stats.Trials == 0 {
		return "no trial has run"
	}
	var kinds []string
	for _, e := range r.Errors {
		kinds = append(kinds, fmt.Sprintf("%s %d", e.Kind, e.Count))
	}
	text := fmt.Sprintf("%d of %s ended in an error (%s)", r.Stats.Errors, plural(r.Stats.Trials, "trial", "trials"), strings.Join(kinds, ", "))
	if r.Stats.Errors == 0 {
		text = "the evaluation stopped after " + plural(r.Stats.Trials, "trial", "trials")
	}
	if r.tooManyErrors(s) {
		text += fmt.Sprintf("; at most %d are allowed", int(r.maxErrors(s)+1e-9))
	}
	return text
}

func (r *Report) failedReason(s *suitespec.Suite) string {
	failed := r.failedGates()
	if len(r.Gates) == 1 && gateless(s) {
		return fmt.Sprintf("%d of %d graded trials%s failed (%s), and the suite has no gates that allow failures",
			r.Stats.Failed, r.Stats.Passed+r.Stats.Failed, r.unlessQuarantined(), text.Some(r.Gates[0].Cases, maxListed))
	}
	return fmt.Sprintf("%d of %d gates failed: %s", len(failed), len(r.Gates), text.Some(failed, maxListed))
}

// unlessQuarantined returns a qualifier for trials that are not quarantined, or "" if none are.
func (r *Report) unlessQuarantined() string {
	if len(r.Quarantined) == 0 {
		return ""
	}
	return " that are not quarantined"
}

func (r *Report) lostCoverage() bool {
	return r.Comparison != nil && len(r.Comparison.Removed) > 0 && r.Manifest.Filter == ""
}

// inconclusive sets the verdict of an inconclusive comparison as configured in the suite.
func (r *Report) inconclusive(s *suitespec.Suite) {
	text := r.Comparison.sentence()
	word := ""
	if s != nil {
		word = s.Baseline.Inconclusive
	}
	switch word {
	case "pass":
		r.conclude(VerdictPassed, text+"; counted as passed (inconclusive: pass)")
	case "fail":
		r.conclude(VerdictFailed, text+"; counted as failed (inconclusive: fail)")
	default:
		r.conclude(VerdictInconclusive, text)
	}
}

func (r *Report) passedReason(s *suitespec.Suite) string {
	text := fmt.Sprintf("the pass rate of %s is %s (95%% interval %s to %s)",
		plural(r.Stats.N, "case", "cases"), Percent(r.Stats.PassRate), Percent(r.Stats.CILow), Percent(r.Stats.CIHigh))
	if gateless(s) {
		text = "every trial" + strings.ReplaceAll(r.unlessQuarantined(), " are ", " is ") + " passed; " + text
	} else {
		text = plural(len(r.Gates), "gate", "gates") + " passed; " + text
	}
	if r.Comparison != nil {
		text += "; " + r.Comparison.sentence()
	}
	return text
}
