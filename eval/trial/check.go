package trial

import (
	"context"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/model"
)

// Check grades a trial. It must be safe for concurrent use.
type Check interface {
	// Check returns a mark with Pass, Score and explanations; the caller sets which check
	// it is. An error is a failure of the grader, such as an unreachable judge or a
	// missing command: the trial then ends in an error of kind grader, neither passed nor
	// failed. Tokens and Cost of the mark count even with an error.
	Check(ctx context.Context, s *Subject) (Mark, error)
}

// Checks are the kinds of checks for suites and tests.
type Checks = component.Set[CheckSettings, Check]

// Paired is a Check that compares a trial with the same trial under another variant
// (Subject.Paired). It runs when both have ended.
type Paired interface {
	Against() string // name of the variant
}

// Prompted is a Check that needs the texts of the run's requests, which are collected
// only then.
type Prompted interface {
	Prompts() bool
}

// CheckSettings are the settings passed to a check's factory.
type CheckSettings struct {
	Name      string              // name in reports
	Dir       string              // folder of the file that names it: base of commands and paths
	Root      string              // project root
	Env       func(string) string // environment variables; nil = none
	UserAgent string
	Judge     Grader              // the suite's judge; nil = none
	Rubric    component.PromptRef // the judge's rubric, for checks without one
	Embedder  model.Embedder      // nil = the suite sets no LLM for embeddings
	EmbedCost *model.Cost         // nil = unknown price
	// Guard is like tool.Settings.Guard.
	Guard func(mark string) (watch func(leader int) (release func()))
	// NoPrograms is like tool.Settings.NoPrograms: a check that starts a program fails.
	NoPrograms bool
}

// Grader asks a model for a judgement.
type Grader interface {
	// Grade returns the reply to a prompt, JSON if there is a schema. The grader caches
	// replies to identical questions, which use no tokens. With an error, Tokens and Cost
	// are what was used.
	Grade(ctx context.Context, q Question) (Judgement, error)
}

// Question is a question to a judge.
type Question struct {
	System string
	Prompt string
	Schema []byte // JSON Schema of the reply; nil = text
	// Vote numbers identical questions that need separate replies, from 1; they use the
	// model's own temperature unless the author set one. 0 = a single question, asked at
	// temperature 0.
	Vote int
}

// Judgement is a judge's reply.
type Judgement struct {
	Text   string
	Tokens int
	Cost   float64 // USD
}

// Subject is the result of a trial, for checks. It must not be modified.
type Subject struct {
	Case       map[string]any // the row of the dataset: ${case.x}
	Parameters map[string]any // of the run: ${parameters.x}
	Result     *engine.Result
	Output     any // the validated answer, numbers as jsonvalue.Plain has them, else the response
	Trace      exprenv.Trace
	Latency    time.Duration
	Unpriced   []string // LLMs that were called and have no price, so that Trace.Cost is incomplete
	Paired     *Subject // the same trial under the variant that a Paired check names
}

// Lookup returns values for the templates of checks.
func (s *Subject) Lookup(ns, name string) (v any, ok bool) {
	switch ns {
	case "case":
		v, ok = s.Case[name]
	case "parameters":
		v, ok = s.Parameters[name]
	}
	return v, ok
}

// Mark is the result of a check.
type Mark struct {
	Check    string  `json:"check"` // its name
	Type     string  `json:"type"`
	Pass     bool    `json:"pass"`
	Score    float64 `json:"score"`  // 0 to 1; 1 or 0 for checks that only pass or fail
	Weight   float64 `json:"weight"` // share in the trial's score; 0 = informational, fails no trial
	Expected string  `json:"expected,omitempty"`
	Actual   string  `json:"actual,omitempty"`
	Message  string  `json:"message,omitempty"` // why, in a sentence
	Diff     string  `json:"diff,omitempty"`    // unified
	Error    string  `json:"error,omitempty"`   // failure of the grader; Pass and Score are meaningless then
	Prompt   string  `json:"prompt,omitempty"`  // hash of the judge's instructions: different ones are not comparable
	Tokens   int     `json:"tokens,omitempty"`  // used for grading
	Cost     float64 `json:"cost_usd,omitempty"`
	Line     int     `json:"line,omitempty"` // of the check in its file
}
