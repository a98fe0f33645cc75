package html_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// rowsOf returns an iterator over rows that can be used repeatedly.
func rowsOf(rows ...*trial.Row) trial.Rows {
	return func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) {
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// chance is a small random generator that keeps fixtures stable.
type chance uint64

func (c *chance) next() float64 {
	*c = *c*6364136223846793005 + 1442695040888963407
	return float64(*c>>33) / (1 << 31)
}

var (
	topics   = []string{"billing", "shipping", "returns", "accounts", "search"}
	variants = []string{"large", "small"}
)

// world is a synthetic evaluation of n cases with two variants and three trials each.
type world struct {
	n      int
	report *report.Report
}

func newWorld(n int) world {
	w := world{n: n, report: sampleReport()}
	var lines []report.CaseStats
	for i := range n {
		for _, v := range variants {
			lines = append(lines, w.line(i, v))
		}
	}
	w.report.Cases = report.CasesOf(lines...)
	s := &w.report.Stats
	s.N, s.Trials = n*2, n*6
	s.Passed, s.Errors = n*5, n/20
	s.Failed = s.Trials - s.Passed - s.Errors
	return w
}

// rows generates the rows one by one.
func (w world) rows() iter.Seq2[*trial.Row, error] {
	return func(yield func(*trial.Row, error) bool) {
		for i := range w.n {
			for _, v := range variants {
				for repeat := 1; repeat <= 3; repeat++ {
					if !yield(w.row(i, v, repeat), nil) {
						return
					}
				}
			}
		}
	}
}

func (w world) line(i int, variant string) report.CaseStats {
	c := report.CaseStats{Case: exprenv.Case{ID: caseID(i), Variant: variant, Group: topics[i%5]}, Line: i + 1}
	for repeat := 1; repeat <= 3; repeat++ {
		r := w.row(i, variant, repeat)
		switch r.Outcome {
		case trial.Passed:
			c.N, c.Passed = c.N+1, c.Passed+1
		case trial.Failed:
			c.N++
			c.Check, c.Why = "names the answer", r.Marks[0].Message
		case trial.Errored:
			c.Errors++
			c.Why = r.Fault.Message
		case trial.Skipped:
			c.Skipped++
		}
		c.Score += r.Score / 3
		c.Cost += r.Run.Cost / 3
		c.LatencyMS += r.Run.LatencyMS / 3
		c.Tokens += float64(r.Run.Tokens) / 3
	}
	if c.N > 0 {
		c.PassRate = float64(c.Passed) / float64(c.N)
	}
	c.CILow, c.CIHigh = max(0, c.PassRate-0.2), min(1, c.PassRate+0.2)
	c.Flaky = c.Passed > 0 && c.Passed < c.N
	return c
}

func caseID(i int) string { return fmt.Sprintf("case-%05d", i+1) }

func (w world) row(i int, variant string, repeat int) *trial.Row {
	c := chance(i*31 + int(variant[0])*7 + repeat*1009)
	c.next()
	question := fmt.Sprintf("How do I change the %s of order %d after it was confirmed?", topics[i%5], 1000+i)
	r := &trial.Row{
		V: 1, Key: trial.Key{Case: caseID(i), Variant: variant, Repeat: repeat}, Line: i + 1, Group: topics[i%5],
		Tags: []string{[]string{"easy", "hard"}[i%2]}, Input: map[string]any{"question": question, "answer": "order page"},
		Parameters: map[string]any{"question": question}, Outcome: trial.Passed, Score: 1,
		At:  time.Date(2026, 1, 2, 15, 4, i%60, 0, time.UTC),
		Run: runOf(&c, i, variant, question),
	}
	switch x := c.next(); {
	case x < 0.01:
		r.Outcome, r.Score = trial.Errored, 0
		r.Fault = &trial.Fault{Kind: trial.ProviderFault, Message: "model main: 503 Service Unavailable after 3 attempts"}
	case x < 0.14 || variant == "small" && x < 0.25:
		r.Outcome, r.Score = trial.Failed, 0.25
	}
	if r.Outcome != trial.Errored {
		r.Marks = marksOf(r)
	}
	return r
}

func runOf(c *chance, i int, variant, question string) trial.Run {
	ms := 800 + 2400*c.next()*c.next()
	if c.next() > 0.97 {
		ms *= 4
	}
	answer := fmt.Sprintf("Open the order page of order %d, choose Change, and confirm. The change is free until the parcel leaves.", 1000+i)
	if variant == "small" {
		answer = fmt.Sprintf("Open the page of order %d and choose Change. It is free until the parcel leaves the house.", 1000+i)
	}
	t := tool.Record{
		Tool: "search_files", Args: json.RawMessage(`{"query":"change order","limit":5}`), Status: tool.CallOK, DurationMS: 12,
		Result: map[string]any{"hits": []any{map[string]any{"file": "orders.md", "line": 12.0, "text": "An order can be changed until it leaves."}}},
	}
	steps := []plan.Step{
		{ID: "s1", Goal: "Find what the handbook says: " + question, Tools: []string{"search_files"}, Success: "the paragraph is quoted"},
		{ID: "s2", Goal: "Write the answer", DependsOn: []string{"s1"}},
		{ID: "s3", Goal: "Ask a person if it is unclear"},
	}
	return trial.Run{
		ID: fmt.Sprintf("r-%06d-%s", i, variant), Status: stop.RunCompleted, StopReason: stop.Reason{Code: stop.Answered},
		Response: answer, Plan: plan.Plan{Version: 2, Steps: steps},
		Steps: []plan.StepRecord{
			{ID: "s1", Goal: steps[0].Goal, Status: plan.OK, Attempts: 1, Result: "An order can be changed until it leaves.", ToolCalls: []tool.Record{t}, DurationMS: 640, Usage: plan.StepUsage{ModelCalls: 2, Tokens: model.Tokens{Input: 900, Output: 60}}},
			{ID: "s2", Goal: "Write the answer", Status: plan.Failed, Attempts: 2, Error: "the model gave no text", DurationMS: 90},
		},
		Tokens: 900 + int(1500*c.next()), Cost: 0.0004 + 0.002*c.next(), ModelCalls: 4, ToolCalls: 1, LatencyMS: ms,
	}
}

func marksOf(r *trial.Row) []trial.Mark {
	ok := r.Outcome == trial.Passed
	names := trial.Mark{Check: "names the answer", Type: "contains", Pass: ok, Score: 1, Weight: 2, Expected: "order page", Line: 14}
	if !ok {
		names.Score, names.Actual = 0, r.Run.Response
		names.Message = `the answer does not contain "order page"`
		names.Diff = "--- expected\n+++ actual\n@@ -1 +1 @@\n-order page\n+page of order\n"
	}
	return []trial.Mark{
		names,
		{Check: "is cheap", Type: "expr", Pass: true, Score: 1, Weight: 1, Line: 15},
		{Check: "tone", Type: "judge", Pass: true, Score: 0.75, Weight: 1, Message: "Friendly, a little long.", Tokens: 420, Cost: 0.0002, Line: 16},
	}
}

// sampleReport returns a report in which no part is empty.
func sampleReport() *report.Report {
	group := func(n int, rate float64) exprenv.GroupStats {
		return exprenv.GroupStats{N: n, Trials: 3 * n, Passed: int(rate * float64(3*n)), PassRate: rate, CILow: max(0, rate-0.05), CIHigh: min(1, rate+0.04)}
	}
	stats := exprenv.Stats{
		N: 200, Trials: 600, Passed: 500, Failed: 94, Errors: 6, Flaky: 31, PassRate: 0.842, CILow: 0.811, CIHigh: 0.869, Score: 0.88,
		Cost:      exprenv.Spread{Mean: 0.0014, P50: 0.0013, P95: 0.0023, Total: 0.84},
		Latency:   exprenv.Spread{Mean: 1.5, P50: 1.31, P95: 3.02, Total: 900},
		Tokens:    exprenv.Spread{Mean: 1640, P50: 1600, P95: 2310, Total: 984000},
		ByGroup:   map[string]exprenv.GroupStats{"billing": group(40, 0.91), "shipping": group(40, 0.87), "returns": group(40, 0.83), "accounts": group(40, 0.79), "search": group(40, 0.81)},
		ByVariant: map[string]exprenv.GroupStats{"large": group(100, 0.88), "small": group(100, 0.804)},
		ByCheck:   map[string]exprenv.GroupStats{"names the answer": group(600, 0.842), "is cheap": group(600, 1), "tone": group(600, 0.97)},
	}
	was := stats
	was.PassRate, was.Flaky, was.Errors, was.Score = 0.881, 18, 0, 0.91
	was.Cost.Mean, was.Latency.P50, was.Tokens.Mean = 0.0016, 1.12, 1702
	return &report.Report{
		V: 1, Manifest: sampleManifest(), Verdict: report.VerdictRegressed, ExitCode: 1,
		Reason: "the pass rate is 3.9 points below the baseline (95% interval 1.2 to 6.6 below)",
		Stats:  stats, Comparison: sampleComparison(was), DurationMS: 84210, Missing: 2, JudgeTokens: 251000, JudgeCost: 0.11,
		Gates: []report.GateResult{
			{Name: "stats.pass_rate >= 0.8", Expr: "stats.pass_rate >= 0.8", Pass: true, Got: "stats.pass_rate = 0.842", File: "suite.yaml", Line: 31},
			{Name: "cheap", Expr: "stats.cost.p95 < 0.05", Pass: true, Got: "stats.cost.p95 = 0.0023", File: "suite.yaml", Line: 32},
			{Name: "no case dies", Expr: "case.pass_rate >= 0.5", Got: "11 of 200 fail; the worst, case-00007 [small]: case.pass_rate = 0", Cases: []string{"case-00001 [small]", "case-00007 [small]", "case-00012 [small]", "case-00013 [small]", "case-00020 [small]", "case-00023 [small]", "case-00024 [small]", "case-00029 [small]", "case-00031 [small]", "case-00032 [small]", "case-00040 [small]"}, File: "suite.yaml", Line: 33},
		},
		Errors:      []report.ErrorCount{{Kind: trial.ProviderFault, Count: 6, Example: "model main: 503 Service Unavailable after 3 attempts"}},
		Quarantined: []string{"case-00003"}, Warnings: []string{"quarantine of case-00003 ends on 2026-02-01"},
	}
}

func sampleManifest() report.Manifest {
	digest := func(c string) string { return "sha256:" + strings.Repeat(c, 64) }
	return report.Manifest{
		V: 1, ID: "e-20260102-150405-1a2b3c", Suite: "shop-questions", Description: "Questions that customers of the shop ask, with the answers of the handbook.",
		File: "evals/shop/suite.yaml", Digest: digest("a"), Grading: digest("b"), Dataset: "evals/shop/cases.jsonl", DatasetHash: digest("c"),
		Variants: []report.VariantInfo{
			{Name: "large", Spec: engine.SpecInfo{Name: "shop", Version: "1.4", Digest: digest("d")}, File: "spec.yaml", Priced: true},
			{Name: "small", Spec: engine.SpecInfo{Name: "shop", Version: "1.4", Digest: digest("e")}, File: "spec.yaml", Set: []string{"llms.main.model=mini"}, Priced: true},
		},
		Checks: []report.CheckInfo{{Name: "names the answer", Type: "contains", Weight: 2, Line: 14}},
		Repeat: 3, Concurrency: 8, Labels: map[string]string{"branch": "topic", "team": "shop"},
		Started: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), Version: "v1.0.0", Commit: "0123456789abcdef0123456789abcdef01234567", Dirty: true,
	}
}

func sampleComparison(was exprenv.Stats) *report.Comparison {
	return &report.Comparison{
		Ref: "git:main", Commit: "fedcba9876543210", Verdict: "regressed", Margin: 0.02, Paired: 198, Baseline: was,
		Difference: -0.039, CILow: -0.066, CIHigh: -0.012, P: 0.004, Test: "sign-flip permutation", Detectable: 0.031,
		Changes: []report.CaseChange{
			{Case: "case-00007", Variant: "small", Before: report.PassCount{C: 3, N: 3}, After: report.PassCount{N: 3}, P: 0.03, Kind: "regressed"},
			{Case: "case-00012", Variant: "large", Before: report.PassCount{C: 1, N: 3}, After: report.PassCount{C: 3, N: 3}, P: 0.21, Kind: "improved"},
			{Case: "case-00023", Variant: "small", Before: report.PassCount{C: 3, N: 3}, After: report.PassCount{C: 2, N: 3}, P: 1, Kind: "flaky"},
		},
		Added: []string{"case-00199 [large]", "case-00200 [large]"}, Removed: []string{"case-retired [small]"}, GradingChange: true,
	}
}
