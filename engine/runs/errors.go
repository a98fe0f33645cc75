package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/stop"
)

// ErrRewound says that part of what was followed became void: the run continues
// from an earlier place, with other limits. Follow it again from its start.
var ErrRewound = errors.New("the run continues from an earlier place")

// NotFoundError says that a home has no such run.
type NotFoundError struct{ Run, Dir string }

// Error names the run and the home.
func (e *NotFoundError) Error() string { return fmt.Sprintf("there is no run %s in %s", e.Run, e.Dir) }

// StartError says that records have no start record that can be read.
type StartError struct{ Err error }

// Error gives the reason.
func (e *StartError) Error() string { return e.Err.Error() }

// EndedError says that a run has ended before.
type EndedError struct{ Result *engine.Result }

// Error says how it ended.
func (e *EndedError) Error() string {
	return fmt.Sprintf("run %s has ended before: %s", e.Result.RunID, e.Result.StopReason.Code)
}

// AnswerError says that an answer does not decide a question.
type AnswerError struct {
	Reason string
	Value  string
	Open   []interrupt.Question // the questions among which the answer does not choose; nil = something else is wrong
}

// Error begins with the path or the value of the answer.
func (e *AnswerError) Error() string { return e.Reason }

// QuestionError says that the question that an answer is for is not open.
type QuestionError struct{ Reason string }

// Error says what became of the question.
func (e *QuestionError) Error() string { return e.Reason }

// UnresolvedWriteError says that a decision is missing about another write whose outcome
// is unknown.
type UnresolvedWriteError struct{ Question interrupt.Question }

// Error names the write.
func (e *UnresolvedWriteError) Error() string { return e.Question.Path + " is in doubt too" }

// LimitError says that a run cannot be given more of a limit.
type LimitError struct {
	Run  string
	Set  string      // not "": this setting is no limit
	Stop stop.Reason // else: how the run stopped
}

// Error says why.
func (e *LimitError) Error() string {
	switch {
	case e.Set != "":
		return e.Set + ": only limits can be raised"
	case !e.Stop.Extendable():
		return fmt.Sprintf("run %s was not stopped by a limit: it ended %s", e.Run, e.Stop.Code)
	}
	return fmt.Sprintf("run %s was stopped by %s (%s): set that to more than it was", e.Run, e.Stop.Path, e.Stop.Message)
}

// SpecChangedError says that the spec of a run is not what it was when the run
// began.
type SpecChangedError struct {
	Run, Spec     string
	Before, After json.RawMessage
	Err           error // not nil: it does not compile any more
}

// Error names the spec.
func (e *SpecChangedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s cannot be compiled any more: %v", e.Spec, e.Err)
	}
	return fmt.Sprintf("the spec has changed since run %s began", e.Run)
}

// Unwrap returns why it does not compile.
func (e *SpecChangedError) Unwrap() error { return e.Err }

// RecordingError says that the recording which answers a resumed run cannot be read.
type RecordingError struct {
	Run string
	Err error
}

// Error names the run.
func (e *RecordingError) Error() string {
	return fmt.Sprintf("run %s continues from the recording of another run: %v", e.Run, e.Err)
}

// Unwrap returns the reason.
func (e *RecordingError) Unwrap() error { return e.Err }

// ForkPointError says that a run has no effect at the place that a fork names.
type ForkPointError struct {
	Run, At string
	Paths   []string // of the effects that it has
}

// Error names the place.
func (e *ForkPointError) Error() string {
	return fmt.Sprintf("%s: run %s has no effect there", e.At, e.Run)
}

// StillNeededError says that runs that were to be removed may still be wanted.
type StillNeededError struct{ Reasons []string }

// Error gives the reason of each run.
func (e *StillNeededError) Error() string { return strings.Join(e.Reasons, "; ") }

// NotCancelledError says that a run ended in another way before it could be
// cancelled, or that its process does not end.
type NotCancelledError struct{ Reason string }

// Error gives the reason.
func (e *NotCancelledError) Error() string { return e.Reason }
