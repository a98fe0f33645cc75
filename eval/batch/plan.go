package batch

import (
	"errors"
	"fmt"
	"time"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/eval/dataset"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// Plan is an evaluation to run or resume.
type Plan struct {
	Dir      string          // folder of its files, created if needed
	Manifest report.Manifest // what is evaluated
	Force    bool            // resume even if the manifest differs

	Cases    dataset.Cases
	Total    int // number of cases; 0 = unknown
	Variants []Variant
	Repeat   int // trials per case and variant; 0 = 1

	Checks  []Graded
	Prompts bool // trials store the texts of their requests, for checks of trace.prompts
	Graders int  // concurrent graders; 0 = Concurrency

	Concurrency int // trials in flight; 0 = 4
	MaxErrors   suitespec.MaxErrors
	Limits      suitespec.Limits // MaxDuration is per session
	Grace       time.Duration    // how long calls may continue after ctx ended

	// Decided reports whether a case needs no further trials under a variant. Calls are
	// not concurrent. May be nil.
	Decided func(exprenv.Case) bool

	// Progress is called a few times per second and at the end. Calls are not concurrent.
	// May be nil.
	Progress func(trial.Progress)

	Tracer trial.Tracer // exports the trials; nil = they are not exported

	Mask Mask // redacts each row before it is written; may be nil
}

// Mask redacts a row, which it also gets as JSON, and reports whether it changed the row.
// It must be safe for concurrent use.
type Mask func(row *trial.Row, encoded []byte) (changed bool)

// Variant is a way to run the cases. Its functions must be safe for concurrent use.
type Variant struct {
	Name    string // "" = the only one
	Program *engine.Program
	// Host returns the host of a run; runs may share one.
	Host func(parameters map[string]any) (engine.Host, error)
	// Inputs returns the parameters of a run of a case.
	Inputs func(dataset.Case) (map[string]any, error)
}

// Graded is a built check with its suite entry.
type Graded struct {
	Spec  testspec.Check
	Check trial.Check
}

// Why is why a session ended.
type Why string

// Reasons for the end of a session. All but Done can be resumed.
const (
	Done      Why = "done"      // every trial has a row
	Suspended Why = "suspended" // by a signal
	Budget    Why = "budget"    // a limit of the evaluation was reached
	Broken    Why = "broken"    // too many errors, or a provider is unavailable
)

// Stop describes how a session ended.
type Stop struct {
	Why     Why
	Message string // one sentence; "" if Done
	trial.Progress
}

func (p *Plan) complete() error {
	switch {
	case p.Dir == "" || p.Cases == nil || len(p.Variants) == 0:
		return errors.New("an evaluation needs a folder, cases and a variant")
	case p.Manifest.ID == "":
		return errors.New("an evaluation needs an id")
	}
	names := map[string]bool{}
	for _, v := range p.Variants {
		if names[v.Name] {
			return fmt.Errorf("two variants are named %q", v.Name)
		}
		names[v.Name] = true
	}
	for _, c := range p.Checks {
		if paired, ok := c.Check.(trial.Paired); ok && !names[paired.Against()] {
			return fmt.Errorf("check %s compares with the unknown variant %q", c.Spec.Name, paired.Against())
		}
	}
	p.Repeat = max(p.Repeat, 1)
	if p.Concurrency <= 0 {
		p.Concurrency = 4
	}
	if p.Graders <= 0 {
		p.Graders = p.Concurrency
	}
	return nil
}

// total returns the number of trials; 0 = unknown.
func (p *Plan) total() int { return p.Total * len(p.Variants) * p.Repeat }

// hasPaired reports whether a check compares variants.
func hasPaired(checks []Graded) bool {
	for _, c := range checks {
		if _, ok := c.Check.(trial.Paired); ok {
			return true
		}
	}
	return false
}
