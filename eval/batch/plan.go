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
	"github.com/pexctl/pex/eval/fold"
	"github.com/pexctl/pex/eval/trial"
)

// Plan is an evaluation that is to be run, or gone on with.
type Plan struct {
	Dir      string        // where its files are; made if need be
	Manifest fold.Manifest // what it is of
	Force    bool          // goes on in a folder whose manifest says something else

	Cases    dataset.Cases
	Total    int // cases; 0 = not known
	Variants []Variant
	Repeat   int // trials of each case under each variant; 0 = 1

	Checks  []Graded
	Prompts bool // trials keep the texts of their requests: a check looks at trace.prompts
	Graders int  // trials that are graded at once; 0 = Concurrency

	Concurrency int // trials in flight; 0 = 4
	MaxErrors   suitespec.MaxErrors
	Limits      suitespec.Limits // MaxDuration is that of one session
	Grace       time.Duration    // how long calls may go on once ctx has ended

	// Decided says that a case under a variant needs no further trials; nil =
	// all are run. It is asked from one goroutine at a time.
	Decided func(exprenv.Case) bool

	// Progress is told a few times a second how things stand, and at the end;
	// nil = nobody is. It is called from one goroutine at a time.
	Progress func(trial.Progress)

	// Mask is given each row before it is written, to take secrets out of it.
	// It is called from many goroutines at once; nil = rows are kept as they are.
	Mask func(*trial.Row)
}

// Variant is one way to run the cases. Its functions are called from many
// goroutines at once.
type Variant struct {
	Name    string // "" = the only one
	Program *engine.Program
	// Host is what a run may touch; runs may share one.
	Host func(parameters map[string]any) (engine.Host, error)
	// Inputs makes the parameters of a run of a case.
	Inputs func(dataset.Case) (map[string]any, error)
}

// Graded is a check that is ready, and what the suite says of it.
type Graded struct {
	Spec  testspec.Check
	Check trial.Check
}

// Why says what ended a session.
type Why string

// The ends of a session. All but Done can be gone on with.
const (
	Done      Why = "done"      // every trial has a row
	Suspended Why = "suspended" // by a signal
	Budget    Why = "budget"    // a limit of the evaluation was reached
	Broken    Why = "broken"    // too many errors, or a provider that is not there
)

// Stop is how a session ended.
type Stop struct {
	Why     Why
	Message string // in a sentence; "" = Done
	trial.Progress
}

func (p *Plan) complete() error {
	switch {
	case p.Dir == "" || p.Cases == nil || len(p.Variants) == 0:
		return errors.New("an evaluation has a folder, cases and a variant")
	case p.Manifest.ID == "":
		return errors.New("an evaluation has an id")
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
			return fmt.Errorf("check %s compares with the variant %q, which there is not", c.Spec.Name, paired.Against())
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

// total is how many trials there are to be; 0 = not known.
func (p *Plan) total() int { return p.Total * len(p.Variants) * p.Repeat }

// paired says whether a check compares variants.
func paired(checks []Graded) bool {
	for _, c := range checks {
		if _, ok := c.Check.(trial.Paired); ok {
			return true
		}
	}
	return false
}
