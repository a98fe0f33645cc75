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

// Manifest is what an evaluation is of. It is written before the first trial
// and not changed; resuming one that has other inputs is refused.
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
	Trials      int                 `json:"trials,omitempty"` // that are to run; 0 = not known
	Concurrency int                 `json:"concurrency"`
	Filter      string              `json:"filter,omitempty"` // in words; "" = all cases
	Flags       map[string][]string `json:"flags,omitempty"`  // of the command that say what is run: it is gone on with them
	Labels      map[string]string   `json:"labels,omitempty"`

	// Prices are what llms cost whose spec does not say it, as the trials are
	// accounted.
	Prices map[string]model.Cost `json:"prices,omitempty"`

	Quarantine []string  `json:"quarantine,omitempty"` // ids and patterns that stood when it began; for those who have no suite
	Started    time.Time `json:"started_at"`
	Version    string    `json:"version"`              // of pexctl
	Commit     string    `json:"git_commit,omitempty"` // "" = no repository
	Dirty      bool      `json:"git_dirty,omitempty"`
}

// VariantInfo is one way the cases were run.
type VariantInfo struct {
	Name   string          `json:"name"`
	Spec   engine.SpecInfo `json:"spec"`
	File   string          `json:"file"`
	Set    []string        `json:"set,omitempty"`
	Priced bool            `json:"priced"` // every llm has a price: costs are known
}

// CheckInfo is a check as reports list it.
type CheckInfo struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"`
	Weight float64 `json:"weight"`
	Line   int     `json:"line"`
}

// Report is what the rows of an evaluation come to. It is a function of them,
// of the manifest, the baseline and the gates: the same bytes every time.
type Report struct {
	V                int                 `json:"v"`
	Manifest         Manifest            `json:"eval"`
	Verdict          Verdict             `json:"verdict"`
	Reason           string              `json:"reason"` // the verdict in a sentence
	ExitCode         int                 `json:"exit_code"`
	Stats            exprenv.Stats       `json:"stats"`              // without cases in quarantine, but for what was spent
	Comparison       *Comparison         `json:"baseline,omitempty"` // nil = not compared with a baseline
	Gates            []GateResult        `json:"gates"`
	Errors           []ErrorCount        `json:"errors,omitempty"` // by kind
	Cases            Cases               `json:"-"`                // order of the dataset, then of the variants
	FlakyCases       []string            `json:"flaky,omitempty"`
	Quarantined      []string            `json:"quarantined,omitempty"`       // cases that are in no figure but Held, and in no gate
	QuarantinedStats *exprenv.GroupStats `json:"quarantined_stats,omitempty"` // what those come to; nil = none
	Missing          int                 `json:"missing"`                     // trials that were to run and have no row
	DurationMS       int64               `json:"duration_ms"`
	JudgeTokens      int                 `json:"judge_tokens,omitempty"`
	JudgeCost        float64             `json:"judge_cost_usd,omitempty"`
	Warnings         []string            `json:"warnings,omitempty"`
}

// Verdict is what CI is told.
type Verdict string

// The verdicts, with their exit codes.
const (
	VerdictPassed       Verdict = "passed"       // 0: every gate holds, and nothing regressed
	VerdictFailed       Verdict = "failed"       // 1: a gate failed
	VerdictRegressed    Verdict = "regressed"    // 1: worse than the baseline
	VerdictInconclusive Verdict = "inconclusive" // 4: too few trials to say that it is not worse
	VerdictBudget       Verdict = "budget"       // 4: a limit stopped it before its end
	VerdictBroken       Verdict = "broken"       // 3: too many errors: nothing is known of the agent
	VerdictIncomplete   Verdict = "incomplete"   // 130: suspended; resume it
)

// Comparison is an evaluation held against a baseline, case by case.
type Comparison struct {
	Ref           string          `json:"ref"` // as asked for
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
	Detectable    float64         `json:"detectable_effect"` // smallest drop found with 80 % power
	CasesNeeded   int             `json:"cases_needed,omitempty"`
	ByVariant     []VariantChange `json:"by_variant,omitempty"` // where several are in both: each for itself
	Changes       []CaseChange    `json:"changes,omitempty"`    // worst first; only those that changed
	Added         []string        `json:"added,omitempty"`
	Removed       []string        `json:"removed,omitempty"` // lost coverage; none where a part was run
	GradingChange bool            `json:"grading_changed,omitempty"`
}

// VariantChange is one variant of several held against the baseline: what one
// gains does not make up for what another one loses.
type VariantChange struct {
	Variant    string  `json:"variant"`
	Paired     int     `json:"paired"`
	Difference float64 `json:"difference"`
	CILow      float64 `json:"ci_low"`
	CIHigh     float64 `json:"ci_high"`
	P          float64 `json:"p"`         // adjusted by the number of variants (Bonferroni)
	Regressed  bool    `json:"regressed"` // then all of it is
}

// CaseChange is a case that is not as in the baseline.
type CaseChange struct {
	Case    string    `json:"case"`
	Variant string    `json:"variant,omitempty"`
	Before  PassCount `json:"before"`
	After   PassCount `json:"after"`
	P       float64   `json:"p"`    // Fisher, adjusted by Benjamini-Hochberg
	Kind    string    `json:"kind"` // regressed, improved, flaky or changed (not significant)
}

// PassCount is passed trials of graded ones.
type PassCount struct {
	C int `json:"c"`
	N int `json:"n"`
}

// GateResult is how a gate came out.
type GateResult struct {
	Name  string   `json:"name"`
	Expr  string   `json:"expr"`
	Pass  bool     `json:"pass"`
	Got   string   `json:"got,omitempty"`   // the figures it names, as they are
	Cases []string `json:"cases,omitempty"` // of a gate on each case: those that fail
	Error string   `json:"error,omitempty"` // it could not be evaluated: it does not hold
	File  string   `json:"file"`
	Line  int      `json:"line"`
}

// ErrorCount is how often a kind of error came, with one of its messages.
type ErrorCount struct {
	Kind    trial.ErrorKind `json:"kind"`
	Count   int             `json:"count"`
	Example string          `json:"example"`
}

// CaseStats is one case under one variant.
type CaseStats struct {
	exprenv.Case
	Skipped   int     `json:"skipped,omitempty"`  // curtailed trials: PassRate is of the others
	Line      int     `json:"line,omitempty"`     // in the dataset
	Cost      float64 `json:"cost_usd"`           // mean of a trial
	LatencyMS float64 `json:"latency_ms"`         // mean
	Tokens    float64 `json:"tokens"`             // mean
	Why       string  `json:"why,omitempty"`      // of its first failed or errored trial, in short
	Check     string  `json:"check,omitempty"`    // that it failed by
	Question  string  `json:"question,omitempty"` // of the same trial, and so below
	Expected  string  `json:"expected,omitempty"` // by the check
	Actual    string  `json:"actual,omitempty"`   // what the check got, else the answer
}

// Baseline is what later evaluations are compared with if this one is blessed.
// Cases without a graded trial are not in it.
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

// Cases are the cases of a report, in the order of the dataset and then of the
// variants. They are kept small and a CaseStats is made when it is asked for:
// tens of thousands of them are not held at once. The zero value has none.
type Cases struct {
	n  int
	at func(i int) CaseStats
}

// CasesOf is Cases of a list, in its order.
func CasesOf(list ...CaseStats) Cases {
	return Cases{len(list), func(i int) CaseStats { return list[i] }}
}

// Len is how many there are.
func (c Cases) Len() int { return c.n }

// At makes the i-th, from 0.
func (c Cases) At(i int) CaseStats { return c.at(i) }

// Slice makes those from the i-th up to before the j-th.
func (c Cases) Slice(i, j int) []CaseStats {
	out := make([]CaseStats, 0, j-i)
	for ; i < j; i++ {
		out = append(out, c.at(i))
	}
	return out
}

// All gives them with their numbers, from 0.
func (c Cases) All() iter.Seq2[int, CaseStats] {
	return func(yield func(int, CaseStats) bool) {
		for i := range c.n {
			if !yield(i, c.at(i)) {
				return
			}
		}
	}
}
