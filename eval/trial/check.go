package trial

import (
	"context"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/model"
)

// Check grades what a trial gave. It is safe for concurrent use.
type Check interface {
	// Check returns a mark with Pass, Score and what explains it; the caller
	// fills in which check it was. An error is the grader's own (a judge that
	// cannot be reached, a command that is not there): the trial then ends in
	// an error of kind grader, and counts as neither passed nor failed. Tokens and
	// Cost of the mark count beside an error too.
	Check(ctx context.Context, s *Subject) (Mark, error)
}

// Checks are the kinds of checks that suites and tests may name.
type Checks = component.Set[CheckSettings, Check]

// Paired is a capability of a Check that holds a trial against the same trial
// under another variant: it is asked when both have ended (Subject.Rival).
type Paired interface {
	Against() string // name of the variant
}

// Prompted is a capability of a Check that looks at the texts of the run's
// requests: only then are they kept.
type Prompted interface {
	Prompts() bool
}

// CheckSettings is what our code passes to a check when it is built.
type CheckSettings struct {
	Name      string              // as reports call it
	Dir       string              // folder of the file that names it: commands and paths start here
	Root      string              // project root
	Env       func(string) string // environment variables; nil = none
	UserAgent string
	Judge     Grader              // the suite's judge; nil = it has none
	Rubric    component.PromptRef // the judge's rubric, where the check has none of its own
	Embedder  model.Embedder      // nil = the suite names no llm that embeds
	EmbedCost *model.Cost         // nil = its price is not known
	// Guard is that of tool.Settings.
	Guard func(mark string) (watch func(leader int) (release func()))
	// NoPrograms is that of tool.Settings: a check that starts one fails.
	NoPrograms bool
}

// Grader asks a model for a judgement.
type Grader interface {
	// Grade returns the reply to a prompt; it is JSON of the schema if one is
	// given. The same question is asked only once as long as the grader
	// remembers it; what is remembered takes no tokens. An error says that no
	// judgement could be had; Tokens and Cost are what that took.
	Grade(ctx context.Context, q Question) (Judgement, error)
}

// Question is what a judge is asked.
type Question struct {
	System string
	Prompt string
	Schema []byte // JSON Schema of the reply; nil = text
	// Vote numbers questions that are alike and want an answer each, from 1: they
	// are asked at the model's own temperature unless the author set one. 0 = the
	// only one, asked at temperature 0.
	Vote int
}

// Judgement is what a judge replied.
type Judgement struct {
	Text   string
	Tokens int
	Cost   float64 // USD
}

// Subject is what a trial gave, for checks. It is only for reading.
type Subject struct {
	Case       map[string]any // the row of the dataset: ${case.x}
	Parameters map[string]any // of the run: ${parameters.x}
	Result     *engine.Result
	Output     any // the validated answer, numbers as jsonvalue.Plain has them, else the response
	Trace      exprenv.Trace
	Latency    time.Duration
	Unpriced   []string // llms of the spec that were asked and have no price: Trace.Cost is not all of it
	Rival      *Subject // the same trial under the variant that a Paired check names
}

// Lookup finds values for the templates of checks.
func (s *Subject) Lookup(ns, name string) (v any, ok bool) {
	switch ns {
	case "case":
		v, ok = s.Case[name]
	case "parameters":
		v, ok = s.Parameters[name]
	}
	return v, ok
}

// Mark is what a check found.
type Mark struct {
	Check    string  `json:"check"` // its name
	Type     string  `json:"type"`
	Pass     bool    `json:"pass"`
	Score    float64 `json:"score"`  // 0 to 1; of a check that only says yes or no, 1 or 0
	Weight   float64 `json:"weight"` // its share in the trial's score; 0 = it is only watched and fails no trial
	Expected string  `json:"expected,omitempty"`
	Actual   string  `json:"actual,omitempty"`
	Message  string  `json:"message,omitempty"` // why, in a sentence
	Diff     string  `json:"diff,omitempty"`    // unified, where one helps
	Error    string  `json:"error,omitempty"`   // the grader's own failure: Pass and Score say nothing
	Prompt   string  `json:"prompt,omitempty"`  // hash of the judge's instructions: marks of different ones do not compare
	Tokens   int     `json:"tokens,omitempty"`  // that grading took
	Cost     float64 `json:"cost_usd,omitempty"`
	Line     int     `json:"line,omitempty"` // of the check in its file
}
