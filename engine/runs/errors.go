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

// ErrRewound reports that the run continues from an earlier record: with new limits, or
// with a message from a user. Follow the run again from its start.
var ErrRewound = errors.New("the run continues from an earlier record")

// NotFoundError reports that a home has no such run.
type NotFoundError struct{ Run, Dir string }

// Error returns the message with the run and the home.
func (e *NotFoundError) Error() string { return fmt.Sprintf("no run %s in %s", e.Run, e.Dir) }

// StartError reports that the start record of a journal is missing or unreadable.
type StartError struct{ Err error }

// Error returns the reason.
func (e *StartError) Error() string { return e.Err.Error() }

// EndedError reports that a run has already ended.
type EndedError struct{ Result *engine.Result }

// Error returns the message with the stop code.
func (e *EndedError) Error() string {
	return fmt.Sprintf("run %s has already ended: %s", e.Result.RunID, e.Result.StopReason.Code)
}

// AnswerError reports an answer that is not valid for its question.
type AnswerError struct {
	Reason string
	Value  string
	Open   []interrupt.Question // the open questions, if the answer does not select one; else nil
}

// Error returns the reason, which starts with the path or the value of the answer.
func (e *AnswerError) Error() string { return e.Reason }

// QuestionError reports an answer to a question that is not open.
type QuestionError struct{ Reason string }

// Error returns why the question is not open.
func (e *QuestionError) Error() string { return e.Reason }

// UnresolvedWriteError reports that another write with an unknown outcome needs a
// decision.
type UnresolvedWriteError struct{ Question interrupt.Question }

// Error returns the message with the path of the write.
func (e *UnresolvedWriteError) Error() string {
	return "the outcome of " + e.Question.Path + " is unknown too"
}

// LimitError reports a change of limits that does not let a run continue.
type LimitError struct {
	Run  string
	Set  string      // the setting that is not a limit, or ""
	Stop stop.Reason // why the run stopped, if Set is ""
}

// Error returns the reason.
func (e *LimitError) Error() string {
	switch {
	case e.Set != "":
		return e.Set + ": only limits can be changed on resume"
	case !e.Stop.Extendable():
		return fmt.Sprintf("run %s was not stopped by a limit, but ended with %s", e.Run, e.Stop.Code)
	}
	return fmt.Sprintf("run %s was stopped by %s (%s): set a higher value", e.Run, e.Stop.Path, e.Stop.Message)
}

// SpecChangedError reports that the spec of a run has changed since the run started.
type SpecChangedError struct {
	Run, Spec     string
	Before, After json.RawMessage
	Err           error // why the spec no longer compiles, or nil
}

// Error returns the message with the spec or the run.
func (e *SpecChangedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s no longer compiles: %v", e.Spec, e.Err)
	}
	return fmt.Sprintf("the spec has changed since run %s started", e.Run)
}

// Unwrap returns why the spec does not compile.
func (e *SpecChangedError) Unwrap() error { return e.Err }

// RecordingError reports that the recording used by a resumed run is unreadable.
type RecordingError struct {
	Run string
	Err error
}

// Error returns the message with the run and the reason.
func (e *RecordingError) Error() string {
	return fmt.Sprintf("read the recording that run %s replays: %v", e.Run, e.Err)
}

// Unwrap returns the reason.
func (e *RecordingError) Unwrap() error { return e.Err }

// ForkPointError reports that a run has no effect at the path given for a fork.
type ForkPointError struct {
	Run, At string
	Paths   []string // of the run's effects
}

// Error returns the message with the path and the run.
func (e *ForkPointError) Error() string {
	return fmt.Sprintf("run %s has no effect at %s", e.Run, e.At)
}

// StillNeededError reports that some of the runs to remove may still be needed.
type StillNeededError struct{ Reasons []string }

// Error returns the reason for each run.
func (e *StillNeededError) Error() string { return strings.Join(e.Reasons, "; ") }

// NotCancelledError reports that the request to cancel a run could not be stored, or
// that the process of the run did not follow it in time.
type NotCancelledError struct{ Reason string }

// Error returns the reason.
func (e *NotCancelledError) Error() string { return e.Reason }
