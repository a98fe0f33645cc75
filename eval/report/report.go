package report

import (
	"iter"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/baseline"
	"github.com/pexctl/pex/eval/trial"
)

// Manifest describes an evaluation. It is written before the first trial and never changed. An evaluation with a
// different manifest cannot be resumed.
type Manifest struct {
	V           int                 `json:"v"`
	ID          string              `json:"id"` // e-20260102-150405-1a2b3c
	Suite       string              `json:"suite"`
	Description string              `json:"description,omitempty"`
	File        string              `json:"file"` // as given, for reports
	Digest      string              `json:"digest"`
	Grading     string              `json:"grading_digest"`
	Dataset     string              `json:"dataset"`
	DatasetHash string              `json:"dataset_digest"`
	Variants    []VariantInfo       `json:"variants"`
	Checks      []CheckInfo         `json:"checks"`
	Repeat      int                 `json:"repeat"`
	Trials      int                 `json:"trials,omitempty"` // planned; 0 = unknown
	Concurrency int                 `json:"concurrency"`
	Filter      string              `json:"filter,omitempty"` // description of the filter; "" = all cases
	Flags       map[string][]string `json:"flags,omitempty"`  // command-line flags that select what runs; resuming uses them again
	Labels      map[string]string   `json:"labels,omitempty"`

	// Prices are the prices used for LLMs whose spec sets none.
	Prices map[string]model.Cost `json:"prices,omitempty"`

	Quarantine []string  `json:"quarantine,omitempty"` // ids and patterns active at the start; for readers without the suite
	Started    time.Time `json:"started_at"`
	Version    string    `json:"version"`              // of pexctl
	Commit     string    `json:"git_commit,omitempty"` // "" = not in a repository
	Dirty      bool      `json:"git_dirty,omitempty"`
}

// VariantInfo describes a variant.
type VariantInfo struct {
	Name   string          `json:"name"`
	Spec   engine.SpecInfo `json:"spec"`
	File   string          `json:"file"`
	Set    []string        `json:"set,omitempty"`
	Priced bool            `json:"priced"` // every LLM has a price, so costs are known
}

// CheckInfo describes a check.
type CheckInfo struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"`
	Weight float64 `json:"weight"`
	Line   int     `json:"line"`
}

// Report is the report of an evaluation. It is a deterministic function of rows, manifest, baseline and gates.
type Report struct {
	V                int                 `json:"v"`
	Manifest         Manifest            `json:"eval"`
	Verdict          Verdict             `json:"verdict"`
	Reason           string              `json:"reason"` // the verdict explained in a sentence
	ExitCode         int                 `json:"exit_code"`
	Stats            exprenv.Stats       `json:"stats"`              // without quarantined cases, except for totals of usage
	Comparison       *Comparison         `json:"baseline,omitempty"` // nil = not compared with a baseline
	Gates            []GateResult        `json:"gates"`
	Errors           []ErrorCount        `json:"errors,omitempty"` // by kind
	Cases            Cases               `json:"-"`                // in the order of the dataset, then of the variants
	FlakyCases       []string            `json:"flaky,omitempty"`
	Quarantined      []string            `json:"quarantined,omitempty"`       // cases excluded from statistics and gates
	QuarantinedStats *exprenv.GroupStats `json:"quarantined_stats,omitempty"` // their statistics; nil = none
	Missing          int                 `json:"missing"`                     // planned trials without a row
	DurationMS       int64               `json:"duration_ms"`
	JudgeTokens      int                 `json:"judge_tokens,omitempty"`
	JudgeCost        float64             `json:"judge_cost_usd,omitempty"`
	Warnings         []string            `json:"warnings,omitempty"`
}

// Verdict is the result of an evaluation, as used by CI.
type Verdict string

// The verdicts, with their exit codes.
const (
	VerdictPassed       Verdict = "passed"       // 0: every gate passed, and nothing regressed
	VerdictFailed       Verdict = "failed"       // 1: a gate failed
	VerdictRegressed    Verdict = "regressed"    // 1: worse than the baseline
	VerdictInconclusive Verdict = "inconclusive" // 4: too few trials to rule out a regression
	VerdictBudget       Verdict = "budget"       // 4: stopped by a limit
	VerdictBroken       Verdict = "broken"       // 3: too many errors to evaluate the agent
	VerdictIncomplete   Verdict = "incomplete"   // 130: suspended; resume it
)

// Comparison compares an evaluation with a baseline, case by case.
type Comparison struct {
	Ref           string          `json:"ref"` // as given
	Commit        string          `json:"git_commit,omitempty"`
	Verdict       string          `json:"verdict"` // regressed, non-inferior or inconclusive
	Margin        float64         `json:"margin"`
	Paired        int             `json:"paired"` // cases in both
	Baseline      exprenv.Stats   `json:"stats"`  // of the baseline
	Difference    float64         `json:"difference"`
	CILow         float64         `json:"ci_low"` // 95 % interval of Difference
	CIHigh        float64         `json:"ci_high"`
	P             float64         `json:"p"`
	Test          string          `json:"test"`              // "exact McNemar" or "sign-flip permutation"
	Detectable    float64         `json:"detectable_effect"` // smallest drop detected with 80 % power
	CasesNeeded   int             `json:"cases_needed,omitempty"`
	ByVariant     []VariantChange `json:"by_variant,omitempty"` // if several variants are in both
	Changes       []CaseChange    `json:"changes,omitempty"`    // worst first; only changed cases
	Added         []string        `json:"added,omitempty"`
	Removed       []string        `json:"removed,omitempty"` // cases of the baseline that are missing; empty if only a part was run
	GradingChange bool            `json:"grading_changed,omitempty"`
}

// VariantChange compares one of several variants with the baseline. Variants are judged separately, so that one's
// gain cannot hide another's loss.
type VariantChange struct {
	Variant    string  `json:"variant"`
	Paired     int     `json:"paired"`
	Difference float64 `json:"difference"`
	CILow      float64 `json:"ci_low"`
	CIHigh     float64 `json:"ci_high"`
	P          float64 `json:"p"`         // adjusted by the number of variants (Bonferroni)
	Regressed  bool    `json:"regressed"` // the whole evaluation then counts as regressed
}

// CaseChange is a case whose result differs from the baseline.
type CaseChange struct {
	Case    string    `json:"case"`
	Variant string    `json:"variant,omitempty"`
	Before  PassCount `json:"before"`
	After   PassCount `json:"after"`
	P       float64   `json:"p"`    // Fisher, adjusted by Benjamini-Hochberg
	Kind    string    `json:"kind"` // regressed, improved, flaky or changed (not significant)
}

// PassCount is the number of passed trials (C) among graded ones (N).
type PassCount struct {
	C int `json:"c"`
	N int `json:"n"`
}

// GateResult is the result of a gate.
type GateResult struct {
	Name  string   `json:"name"`
	Expr  string   `json:"expr"`
	Pass  bool     `json:"pass"`
	Got   string   `json:"got,omitempty"`   // values of the statistics that it uses
	Cases []string `json:"cases,omitempty"` // failing cases of a gate on each case
	Error string   `json:"error,omitempty"` // why it could not be evaluated; it then failed
	File  string   `json:"file"`
	Line  int      `json:"line"`
}

// ErrorCount is the number of errors of a kind, with an example message.
type ErrorCount struct {
	Kind    trial.ErrorKind `json:"kind"`
	Count   int             `json:"count"`
	Example string          `json:"example"`
}

// CaseStats has the results of one case under one variant.
type CaseStats struct {
	exprenv.Case
	Skipped   int     `json:"skipped,omitempty"`  // skipped trials, which PassRate does not cover
	Line      int     `json:"line,omitempty"`     // in the dataset
	Cost      float64 `json:"cost_usd"`           // mean per trial
	LatencyMS float64 `json:"latency_ms"`         // mean
	Tokens    float64 `json:"tokens"`             // mean
	Why       string  `json:"why,omitempty"`      // why its first failed or errored trial did not pass
	Check     string  `json:"check,omitempty"`    // the check that failed
	Question  string  `json:"question,omitempty"` // of the same trial, like Expected and Actual
	Expected  string  `json:"expected,omitempty"` // by the check
	Actual    string  `json:"actual,omitempty"`   // the value that the check got, else the answer
}

// Baseline returns the baseline file to compare later evaluations with. It omits cases without a graded trial.
func Baseline(r *Report) *baseline.File {
	m := &r.Manifest
	f := &baseline.File{
		V: baseline.Version, Suite: m.Suite, Digest: m.Digest, Grading: m.Grading, Dataset: m.DatasetHash,
		Commit: m.Commit, At: m.Started, Stats: r.Stats, Cases: make([]baseline.Case, 0, r.Cases.Len()),
	}
	for _, c := range r.Cases.All() {
		if c.N > 0 {
			f.Cases = append(f.Cases, baseline.Case{
				Case: c.ID, Variant: c.Variant, C: c.Passed, N: c.N,
				Score: c.Score, Cost: c.Cost, Tokens: c.Tokens, LatencyMS: c.LatencyMS,
			})
		}
	}
	return f
}

// Cases is the list of a report's cases, in the order of the dataset and then of the variants. It stores them
// compactly and creates a CaseStats on access, because there may be tens of thousands. The zero value is empty.
type Cases struct {
	n  int
	at func(i int) CaseStats
}

// CasesOf returns a list as Cases.
func CasesOf(list ...CaseStats) Cases {
	return Cases{len(list), func(i int) CaseStats { return list[i] }}
}

// Len returns the number of cases.
func (c Cases) Len() int { return c.n }

// At returns the case with index i.
func (c Cases) At(i int) CaseStats { return c.at(i) }

// Slice returns the cases with indexes from i to j-1.
func (c Cases) Slice(i, j int) []CaseStats {
	out := make([]CaseStats, 0, j-i)
	for ; i < j; i++ {
		out = append(out, c.at(i))
	}
	return out
}

// All iterates over the cases and their indexes.
func (c Cases) All() iter.Seq2[int, CaseStats] {
	return func(yield func(int, CaseStats) bool) {
		for i := range c.n {
			if !yield(i, c.at(i)) {
				return
			}
		}
	}
}
