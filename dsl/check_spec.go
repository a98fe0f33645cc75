package dsl

import (
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Position is where something stands that its author wrote.
type Position struct {
	File   string `json:"file"` // as diagnostics name it
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// Check is one check of a suite or test: the keys that all checks have, and
// those of its type.
type Check struct {
	Type     string
	Name     string  // as reports call it; the type, numbered where it stands twice, by default
	Weight   float64 // 1 by default; 0 = only watched
	Negate   bool    // not: true
	Config   any     // what Blueprint.Config returned, filled
	Position Position
}

// Tests is a file of tests, or the tests that stand in a spec.
type Tests struct {
	File  string // absolute
	Dir   string // absolute: the folder that its relative paths start from
	Root  string // absolute
	Cases []Case
}

// Case is one test of a spec.
type Case struct {
	Name       string
	Position   Position
	Dir        string         // absolute: the folder that its relative paths start from
	Spec       string         // absolute path of the spec under test
	Set        []string       // overrides of the spec, "path=yaml"
	Parameters map[string]any // not yet held against the spec's declarations
	Render     []string       // nodes whose prompts are compared; none = the case renders nothing
	Given      []byte         // JSON: the state to render in, in the result's shape; nil = none
	Golden     string         // absolute: a folder, or the file of the one prompt; "" = nothing is compared
	Run        *CaseRun       // nil = the case runs nothing
	Inject     []Inject
	Checks     []Check // expect and trajectory are checks of types expr and trajectory
	Redact     []Redact
}

// CaseRun says who answers in place of the world.
type CaseRun struct {
	Cassette string            // absolute; "" = none
	Replies  any               // Config of the catalogue's provider "scripted", for every llm; nil = the spec's own
	Answers  map[string]string // to questions, by path or kind, "*" = any other
	Tools    map[string][]ToolAnswer
	Files    []string // shown to the agent
	MemoryID string
	Position Position
}

// ToolAnswer is what a tool gives in place of being called: the calls of a tool
// take its answers in turn, the last one for all that follow.
type ToolAnswer struct {
	Result any    // text, or any JSON value
	Error  string // not "": the call fails
}

// Inject is a fault put in the way of one call.
type Inject struct {
	Tool     string // name, or
	Role     string
	Call     int // the how-manieth of that tool or role in the run, from 1; 0 = every one
	Error    InjectedError
	Position Position
}

// InjectedError is a kind of fault.
type InjectedError string

// The injected errors. A tool takes InjectTimeout, Inject429, Inject500 and
// InjectBadJSON.
const (
	InjectTimeout   InjectedError = "timeout"   // no answer in time
	Inject429       InjectedError = "429"       // rate limited, after the retries
	Inject500       InjectedError = "500"       // the server failed, after the retries
	InjectBadJSON   InjectedError = "bad_json"  // a reply that does not parse
	InjectTruncated InjectedError = "truncated" // a reply cut at half by max_tokens
	InjectRefusal   InjectedError = "refusal"   // the model declines
)

// Redact is something that is not the same on every run: what it matches is
// shown as <Name:1>, <Name:2>, ...: the same text by the same number.
type Redact struct {
	Name    string // "id"
	Pattern string // a regular expression, checked; the first group, if it has one, is the text; or
	Path    string // JSON pointer into trajectory.json, * = any
}

// Suite is a batch evaluation.
type Suite struct {
	File, Dir, Root string // absolute
	Name            string
	Description     string
	Labels          map[string]string
	Variants        []Variant // at least one
	Dataset         Dataset
	Repeat          int // trials of each case, from 1
	Concurrency     int // 0 = not said
	Checks          []Check
	Judge           *Judge // nil = none
	Embed           *engine.ModelSpec
	Gates           []Gate
	Baseline        Baseline
	MaxErrors       MaxErrors
	Limits          SuiteLimits
	Quarantine      []Quarantine
	Digest          string // "sha256:" + hex of the suite as resolved
	GradingDigest   string // the same of what grades: checks, judge, rubric
	Position        Position
}

// Variant is one way to run the cases: a spec, and what is overridden in it.
type Variant struct {
	Name     string // "" when the suite has only one and names none
	Spec     string // absolute path
	Set      []string
	Position Position
}

// Dataset is where the cases are.
type Dataset struct {
	File       string // absolute; "" = Rows
	Format     string // jsonl, csv or yaml
	ID         string // name of the column that names a case; "" = a hash of the row
	Group      string // column of the cluster; "" = none
	Weight     string // column
	Tags       string // column: a list, or words divided by commas
	Parameters map[string]component.Template
	Plain      map[string]any // parameters that are no text, as written
	Rows       []map[string]any
	Position   Position
}

// Judge is the model that grades, and how.
type Judge struct {
	Model  engine.ModelSpec
	Rubric component.PromptRef
}

// Gate is a condition that the whole must meet: an expression over stats and
// baseline, or, with Each, over case for every case of every variant.
type Gate struct {
	Name     string // the expression by default
	When     component.GuardRef
	Each     bool
	Position Position
}

// Baseline is what a suite is held against.
type Baseline struct {
	Ref          string  // a file, git:REF[:path], run:ID; "" = none
	Margin       float64 // a drop of the pass rate below it is no harm: 0.02
	Inconclusive string  // pass or fail: what a verdict that cannot be reached is; "" = exit 4
}

// MaxErrors is how many trials may end in an error before the evaluation is
// stopped: a number, or a share of those that were to run.
type MaxErrors struct {
	Count int     // -1 = not said
	Share float64 // 0 to 1; 0 = not said
}

// SuiteLimits bound an evaluation.
type SuiteLimits struct {
	MaxCost      float64 // USD in all, judges included; 0 = none
	MaxTokens    int     // in all
	MaxDuration  int64   // nanoseconds in all
	TrialTimeout int64   // nanoseconds of one trial
}

// Quarantine is a case that is known to be flaky or broken: until a day it
// fails no gate.
type Quarantine struct {
	Case     string // id, or a pattern with *
	Owner    string
	Until    string // 2026-12-31; a day that is over is an error
	Reason   string
	Position Position
}
