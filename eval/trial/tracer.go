package trial

import (
	"time"

	"github.com/pexctl/pex/engine"
)

// Tracer exports the trials of an evaluation and their grades, such as to a collector. It must
// be safe for concurrent use.
type Tracer interface {
	// Sinks returns the sinks of a run of a trial.
	Sinks(of Key, p *engine.Program, in *engine.Input) []engine.Sink
	// Graded receives the row of a trial that is about to be stored. It may be called for trials
	// that ran in an earlier session.
	Graded(row *Row)
	// Ended receives the end of an evaluation whose trials all have a row, in each session.
	Ended(Tally)
}

// Tally is how an evaluation ended.
type Tally struct {
	Verdict                        string
	Trials, Passed, Failed, Errors int
}

// Evaluation describes an evaluation to a Tracer.
type Evaluation struct {
	ID, Suite string
	Dir       string // of its files
	Started   time.Time
	Resumed   bool
}
