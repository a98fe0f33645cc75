package report_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

var startTime = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// rowsOf returns rows in order.
func rowsOf(rows []trial.Row) trial.Rows {
	return func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) {
			for i := range rows {
				if !yield(&rows[i], nil) {
					return
				}
			}
		}
	}
}

// row returns a trial. outcome is passed, failed, error or skipped.
func row(id, variant string, repeat, line int, group string, outcome trial.Outcome) trial.Row {
	r := trial.Row{
		V: trial.RowVersion, Key: trial.Key{Case: id, Variant: variant, Repeat: repeat}, Line: line, Group: group,
		Tags: []string{"a", "b"}, Outcome: outcome, At: startTime.Add(time.Duration(line) * time.Second),
		Run: trial.Run{
			ID: fmt.Sprintf("%s~%s~%d", id, variant, repeat), Status: stop.RunCompleted, StopReason: stop.Reason{Code: stop.Answered},
			Response: "The invoice is 42 EUR.", Output: json.RawMessage(`{"total":42}`), Tokens: 1000 + line, Cost: 0.001, ModelCalls: 2, LatencyMS: 1200,
		},
	}
	switch outcome {
	case trial.Passed:
		r.Score = 1
		r.Marks = []trial.Mark{{Check: "names the answer", Type: "contains", Pass: true, Score: 1, Weight: 2, Line: 22}, {Check: "cheap", Type: "expr", Pass: true, Score: 1, Weight: 1, Line: 23}}
	case trial.Failed:
		r.Score = 1. / 3
		r.Marks = []trial.Mark{
			{Check: "names the answer", Type: "contains", Weight: 2, Expected: "43 EUR", Actual: "The invoice is 42 EUR.", Message: "the answer does not contain it", Diff: "-43 EUR\n+The invoice is 42 EUR.\n", Line: 22},
			{Check: "cheap", Type: "expr", Pass: true, Score: 1, Weight: 1, Line: 23},
		}
	case trial.Errored:
		r.Fault = &trial.Fault{Kind: trial.ProviderFault, Message: "dial tcp 127.0.0.1:1: connection refused"}
		r.Run.Status, r.Run.Response, r.Run.Output = stop.RunFailed, "", nil
	case trial.Skipped:
		r.Run = trial.Run{}
	}
	return r
}

// caseOf returns approximate statistics of a case.
func caseOf(rows []trial.Row) report.CaseStats {
	first := rows[0]
	out := report.CaseStats{Case: exprenv.Case{ID: first.Case, Variant: first.Variant, Group: first.Group}, Line: first.Line, Cost: 0.001, LatencyMS: 1200, Tokens: float64(first.Run.Tokens)}
	for _, r := range rows {
		switch r.Outcome {
		case trial.Passed:
			out.N, out.Passed = out.N+1, out.Passed+1
		case trial.Failed:
			out.N++
			if out.Why == "" {
				out.Why, out.Check = r.Marks[0].Message, r.Marks[0].Check
				out.Question, out.Expected, out.Actual = "How much is "+r.Case+"?", "25 | 26", "24"
			}
		case trial.Errored:
			out.Errors++
			if out.Why == "" {
				out.Why = r.Fault.Message
			}
		case trial.Skipped:
			out.Skipped++
		}
	}
	if out.N > 0 {
		out.PassRate = float64(out.Passed) / float64(out.N)
	}
	out.Flaky = out.Passed > 0 && out.Passed < out.N
	return out
}

// synthetic returns an evaluation with variants, groups, errors, a quarantine, skipped
// trials and a baseline.
func synthetic() (*report.Report, []trial.Row) {
	outcomes := []struct {
		id, group    string
		small, large string // p, f, e or s for each trial
	}{
		{"refund-1", "billing", "ppp", "ppp"},
		{"invoice-2", "billing", "fff", "ppp"},
		{"invoice-3", "billing", "pfp", "pps"},
		{"where-4", "delivery", "eee", "ppe"},
		{"late-5", "delivery", "fpf", "ppp"},
	}
	var rows []trial.Row
	var cases []report.CaseStats
	kinds := map[byte]trial.Outcome{'p': trial.Passed, 'f': trial.Failed, 'e': trial.Errored, 's': trial.Skipped}
	for i, o := range outcomes {
		for _, v := range []struct{ name, trials string }{{"small", o.small}, {"large", o.large}} {
			from := len(rows)
			for j := range v.trials {
				rows = append(rows, row(o.id, v.name, j+1, i+1, o.group, kinds[v.trials[j]]))
			}
			cases = append(cases, caseOf(rows[from:]))
		}
	}
	return &report.Report{
		V: 1, Manifest: manifest(), Verdict: report.VerdictRegressed, ExitCode: 1,
		Reason:     `2 of 3 gates failed: no case dies, cheaper than before; the pass rate is worse than in git:main`,
		Stats:      stats(),
		Comparison: comparison(),
		Gates: []report.GateResult{
			{Name: "stats.pass_rate >= 0.7", Expr: "stats.pass_rate >= 0.7", Pass: true, Got: "stats.pass_rate = 0.725", File: "suite.yaml", Line: 31},
			{Name: "no case dies", Expr: "case.pass_rate >= 0.5", Cases: []string{"invoice-2 [small]"}, File: "suite.yaml", Line: 32},
			{Name: "cheaper than before", Expr: "stats.cost.mean < baseline.cost.mean", Error: "the baseline has no costs", File: "suite.yaml", Line: 33},
		},
		Errors: []report.ErrorCount{{Kind: trial.ProviderFault, Count: 4, Example: "dial tcp 127.0.0.1:1: connection refused"}},
		Cases:  report.CasesOf(cases...), FlakyCases: []string{"invoice-3 [small]"}, Quarantined: []string{"late-5"},
		QuarantinedStats: &exprenv.GroupStats{N: 1, Trials: 6, Passed: 4, PassRate: 0.6667, CILow: 0.2, CIHigh: 0.9},
		Missing:          2, DurationMS: 72_400, JudgeTokens: 5120, JudgeCost: 0.0031,
		Warnings: []string{"the interval is of 5 clusters: below 30 it is too narrow"},
	}, rows
}

func manifest() report.Manifest {
	return report.Manifest{
		V: 1, ID: "e-20260102-150405-1a2b3c", Suite: "shop-questions", File: "suite.yaml", Digest: "sha256:aaaabbbbccccdddd", Grading: "sha256:1111222233334444",
		Dataset: "cases.jsonl", DatasetHash: "sha256:eeeeffff00001111", Repeat: 3, Concurrency: 4, Started: startTime, Version: "0.2.0", Commit: "0123456789abcdef0123456789abcdef01234567",
		Variants: []report.VariantInfo{
			{Name: "small", Spec: engine.SpecInfo{Name: "shop", Version: "1.2", Digest: "sha256:2222333344445555"}, File: "spec.yaml", Priced: true},
			{Name: "large", Spec: engine.SpecInfo{Name: "shop", Version: "1.2", Digest: "sha256:6666777788889999"}, File: "spec.yaml", Priced: true},
		},
		Checks: []report.CheckInfo{{Name: "names the answer", Type: "contains", Weight: 2, Line: 22}, {Name: "cheap", Type: "expr", Weight: 1, Line: 23}},
	}
}

func stats() exprenv.Stats {
	return exprenv.Stats{
		N: 4, Trials: 23, Passed: 15, Failed: 4, Errors: 4, Flaky: 1, PassRate: 0.7254, CILow: 0.5012, CIHigh: 0.8999, Score: 0.8,
		Cost: exprenv.Spread{Mean: 0.001, P50: 0.001, P95: 0.0012, Total: 0.025}, Latency: exprenv.Spread{Mean: 1.2, P50: 1.2, P95: 1.9, Total: 30},
		Tokens: exprenv.Spread{Mean: 1003, P50: 1003, P95: 1005, Total: 25075},
		PassAt: map[string]float64{"1": 0.72}, PassAll: map[string]float64{"1": 0.72, "2": 0.55},
		ByGroup: map[string]exprenv.GroupStats{
			"billing":  {N: 3, Trials: 17, Passed: 13, PassRate: 0.7777, CILow: 0.5, CIHigh: 0.93},
			"delivery": {N: 1, Trials: 6, Passed: 2, Errors: 4, PassRate: 1, CILow: 0.2, CIHigh: 1},
		},
		ByVariant: map[string]exprenv.GroupStats{
			"small": {N: 3, Trials: 12, Passed: 5, Errors: 3, PassRate: 0.5, CILow: 0.2, CIHigh: 0.8},
			"large": {N: 4, Trials: 11, Passed: 10, Errors: 1, PassRate: 1, CILow: 0.78, CIHigh: 1},
		},
		ByCheck: map[string]exprenv.GroupStats{
			"names the answer": {N: 4, Trials: 19, Passed: 15, PassRate: 0.76},
			"cheap":            {N: 4, Trials: 19, Passed: 19, PassRate: 1},
		},
	}
}

func comparison() *report.Comparison {
	before := stats()
	before.PassRate, before.CILow, before.CIHigh = 0.91, 0.8, 0.97
	return &report.Comparison{
		Ref: "git:main", Commit: "fedcba9876543210", Verdict: "regressed", Margin: 0.02, Paired: 8, Baseline: before,
		Difference: -0.1846, CILow: -0.31, CIHigh: -0.02, P: 0.0313, Test: "sign-flip permutation", Detectable: -0.2,
		ByVariant: []report.VariantChange{
			{Variant: "small", Paired: 6, Difference: -0.25, CILow: -0.4, CIHigh: -0.1, P: 0.002, Regressed: true},
			{Variant: "large", Paired: 6, Difference: 0.05, CILow: -0.1, CIHigh: 0.2, P: 1},
		},
		Changes: []report.CaseChange{
			{Case: "invoice-2", Variant: "small", Before: report.PassCount{C: 3, N: 3}, After: report.PassCount{C: 0, N: 3}, P: 0.04, Kind: "regressed"},
			{Case: "invoice-3", Variant: "small", Before: report.PassCount{C: 3, N: 3}, After: report.PassCount{C: 2, N: 3}, P: 0.9, Kind: "flaky"},
			{Case: "refund-1", Variant: "small", Before: report.PassCount{C: 0, N: 3}, After: report.PassCount{C: 3, N: 3}, P: 0.04, Kind: "improved"},
		},
		Added: []string{"late-5"}, Removed: []string{"old-9"},
	}
}

// tests returns test results of every status.
func tests() *report.TestReport {
	return &report.TestReport{
		V: 1, Passed: 2, Failed: 2, Skipped: 1, DurationMS: 120, Unused: []string{"tests/gone/planner.prompt.md"},
		Cases: []report.TestResult{
			{Name: "greets", File: "specs/shop/spec.yaml", Line: 40, Status: report.TestPassed, DurationMS: 3.2},
			{Name: "finds the cause", File: "specs/shop/tests/cause/case.yaml", Line: 1, Status: report.TestFailed, DurationMS: 12, Problems: []report.Problem{
				{Kind: report.ProblemGolden, Where: "golden/planner.prompt.md", File: "specs/shop/spec.yaml", Line: 12, Message: "the prompt is not as the golden file says", Diff: "@@ -1,2 +1,2 @@\n-You plan.\n+You plan well.\n same\n"},
				{Kind: report.ProblemCheck, Where: "names the answer", Message: "the answer does not contain it", Expected: "43 EUR", Actual: "42 EUR"},
			}},
			{Name: "has no cassette", File: "specs/shop/spec.yaml", Line: 51, Status: report.TestError, DurationMS: 1, Problems: []report.Problem{
				{Kind: report.ProblemMissing, Message: "no cassette and no replies: pexctl test --record missing"},
			}},
			{Name: "slow", File: "specs/shop/spec.yaml", Line: 60, Status: report.TestSkipped},
			{Name: "rewritten", File: "specs/shop/spec.yaml", Line: 70, Status: report.TestUpdated, DurationMS: 2},
		},
	}
}

// shuffled returns the rows in a different but deterministic order.
func shuffled(rows []trial.Row) []trial.Row {
	out := slices.Clone(rows)
	for i := range out {
		j := (i*7 + 3) % len(out)
		out[i], out[j] = out[j], out[i]
	}
	return out
}
