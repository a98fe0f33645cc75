package suitespec

import (
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Suite is a batch evaluation. Numbers in values of any type are as
// jsonvalue.Plain has them.
type Suite struct {
	File, Dir, Root string   // absolute
	Files           []string // what was read, absolute: what to watch; specs and dataset are not among them
	Name            string
	Description     string
	Labels          map[string]string
	Variants        []Variant          // at least one
	Models          []engine.ModelSpec // those of the suite and of its first spec: what Judge and Embed may fall back to
	Dataset         Dataset
	Repeat          int // trials of each case, from 1
	Concurrency     int // 0 = not said
	Checks          []testspec.Check
	Judge           *Judge // nil = none
	Embed           *engine.ModelSpec
	EmbedKeyAt      testspec.Position // where the API key of Embed is named, or its provider
	Gates           []Gate
	Baseline        Baseline
	MaxErrors       MaxErrors
	Limits          Limits
	Quarantine      []Quarantine
	Digest          string // "sha256:" + hex of the suite as resolved, less what changes no row: concurrency, bounds, gates, baseline, quarantine
	GradingDigest   string // the same of what grades: checks, judge, rubric, embed
	Position        testspec.Position
}

// Variant is one way to run the cases: a spec, and what is overridden in it.
type Variant struct {
	Name     string // "" when the suite has only one and names none
	Spec     string // absolute path
	Set      []string
	Position testspec.Position
}

// Dataset is where the cases are. A column that is not said ("") is the one
// called id, group, weight or tags, if a row has it; one that is said must be
// there.
type Dataset struct {
	File       string                     // absolute; "" = Rows
	Format     string                     // jsonl, csv or yaml
	ID         string                     // column that names a case; without one, a hash of the row does
	Group      string                     // column of the cluster
	Weight     string                     // column
	Tags       string                     // column: a list, or words divided by commas
	Parameters map[string]component.Value // of the run, filled from the row: namespace case; nil = the columns called as declared parameters
	Rows       []map[string]any
	Lines      []int // of the rows in the suite's file, each below the one before; rows on one line are counted on
	Position   testspec.Position
}

// Judge is the model that grades, and how.
type Judge struct {
	Model  engine.ModelSpec
	Rubric component.PromptRef
	KeyAt  testspec.Position // where the API key of Model is named, or its provider
}

// Gate is a condition that the whole must meet: an expression over stats and
// baseline, or, with Each, over case for every case of every variant.
type Gate struct {
	Name     string // the expression by default
	When     component.GuardRef
	Each     bool
	Position testspec.Position
}

// Baseline is what the results of a suite are compared with.
type Baseline struct {
	Ref          string  // a file, git:REF[:path], run:ID; "" = none; a file's path starts from the suite's folder
	Margin       float64 // a drop of the pass rate below it is no harm: 0.02
	Inconclusive string  // pass or fail: what a verdict that cannot be reached is; "" = exit 4
}

// MaxErrors is how many trials may end in an error before the evaluation is
// stopped: a number, or a share of those that were to run.
type MaxErrors struct {
	Count int     // -1 = not said
	Share float64 // 0 to 1; 0 = not said
}

// Limits bound an evaluation.
type Limits struct {
	MaxCost      float64 // USD in all, judges included; 0 = none
	MaxTokens    int     // in all
	MaxDuration  int64   // nanoseconds in all
	TrialTimeout int64   // nanoseconds of one trial
}

// Quarantine is a case that is known to be flaky or broken: until a day it is in
// no gate, in no figure that gates see and in no comparison.
type Quarantine struct {
	Case     string // id, or a pattern with *
	Owner    string
	Until    string // 2026-12-31; a day that is over is an error
	Reason   string
	Position testspec.Position
}
