package suitespec

import (
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Suite is a batch evaluation. Numbers in values of any type have the form of
// jsonvalue.Plain.
type Suite struct {
	File, Dir, Root string   // absolute
	Files           []string // absolute paths of the files read, for watching, without specs and dataset
	Name            string
	Description     string
	Labels          map[string]string
	Variants        []Variant          // at least one
	Models          []engine.ModelSpec // of the suite and of its first spec, including fallbacks of Judge and Embed
	Dataset         Dataset
	Repeat          int // trials per case, at least 1
	Concurrency     int // 0 if not set
	Checks          []testspec.Check
	Judge           *Judge // nil if none
	Embed           *engine.ModelSpec
	EmbedKeyAt      testspec.Position // the place of Embed's API key, or of its provider
	Gates           []Gate
	Baseline        Baseline
	MaxErrors       MaxErrors
	Limits          Limits
	Quarantine      []Quarantine
	Digest          string // "sha256:" + hex of the resolved suite, without what affects no row: concurrency, limits, gates, baseline, quarantine
	GradingDigest   string // the same for what grades: checks, judge, rubric, embed
	Position        testspec.Position
}

// Variant is one way to run the cases: a spec with its overrides.
type Variant struct {
	Name     string // "" if the suite has only one, without a name
	Spec     string // absolute path
	Set      []string
	Position testspec.Position
}

// Dataset describes the cases. An empty column name means the column called id,
// group, weight or tags, if a row has it; a named column must exist.
type Dataset struct {
	File       string                     // absolute; "" for Rows
	Format     string                     // jsonl, csv or yaml
	ID         string                     // column that identifies a case; without it, a hash of the row
	Group      string                     // column of the cluster
	Weight     string                     // column
	Tags       string                     // column: a list, or words separated by commas
	Parameters map[string]component.Value // of the run, rendered from the row in the namespace case; nil for the columns named like declared parameters
	Rows       []map[string]any
	Lines      []int // lines of the rows in the suite's file, strictly increasing; rows on one line are numbered on
	Position   testspec.Position
}

// Judge configures the model that grades.
type Judge struct {
	Model  engine.ModelSpec
	Rubric component.PromptRef
	KeyAt  testspec.Position // the place of Model's API key, or of its provider
}

// Gate is a condition on the results: an expression over stats and baseline or,
// with Each, over case for every case of every variant.
type Gate struct {
	Name     string // default: the expression
	When     component.GuardRef
	Each     bool
	Position testspec.Position
}

// Baseline configures what the results of a suite are compared with.
type Baseline struct {
	Ref          string  // a file, git:REF[:path], run:ID; "" if none; files are relative to the suite's folder
	Margin       float64 // an acceptable drop of the pass rate: 0.02
	Inconclusive string  // pass or fail: the result of an inconclusive comparison; "" for exit code 4
}

// MaxErrors is the number of trials that may fail with an error before the
// evaluation stops: a count, or a share of the planned trials.
type MaxErrors struct {
	Count int     // -1 if not set
	Share float64 // 0 to 1; 0 if not set
}

// Limits limit an evaluation.
type Limits struct {
	MaxCost      float64 // USD in total, including judges; 0 for no limit
	MaxTokens    int     // in total
	MaxDuration  int64   // nanoseconds in total
	TrialTimeout int64   // nanoseconds per trial
}

// Quarantine is a case known to be flaky or broken: until a date it is excluded
// from gates, the figures of gates and comparisons.
type Quarantine struct {
	Case     string // id, or a pattern with *
	Owner    string
	Until    string // 2026-12-31; a past date is an error
	Reason   string
	Position testspec.Position
}
