package manager

import (
	"errors"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine"
)

// ErrQueueFull reports that too many runs wait for their turn. Nothing was started.
var ErrQueueFull = errors.New("too many runs are waiting")

// RateError reports that a tenant started too many runs. Nothing was started.
type RateError struct{ RetryAfter time.Duration }

// Error returns the message with the time until the next run may start.
func (e *RateError) Error() string {
	return fmt.Sprintf("too many runs were started; try again in %s", e.RetryAfter.Round(time.Second))
}

// ErrClosing reports that the process is shutting down. Nothing was changed.
var ErrClosing = errors.New("the server is shutting down")

// MismatchError reports that a run with the id of a request exists, and that another
// request started it.
type MismatchError struct{ Run string }

// Error returns the message with the run.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("run %s was started by another request", e.Run)
}

// BusyError reports that a conversation has a run that has not ended.
type BusyError struct{ MemoryID, Run string }

// Error returns the message with the conversation and the run.
func (e *BusyError) Error() string {
	return fmt.Sprintf("run %s of conversation %s has not ended", e.Run, e.MemoryID)
}

// RunningError reports that a run executes or is queued.
type RunningError struct{ Run string }

// Error returns the message with the run.
func (e *RunningError) Error() string { return fmt.Sprintf("run %s is running", e.Run) }

// DecidedError reports that a question has been answered before.
type DecidedError struct {
	Run      string
	Decision engine.DecisionRecord
}

// Error returns the message with the question, the decision and its author.
func (e *DecidedError) Error() string {
	by := "someone"
	if e.Decision.By != nil {
		by = e.Decision.By.String()
	}
	return fmt.Sprintf("%s was already decided: %s, by %s", e.Decision.Path, e.Decision.Do, by)
}

// NotOpenError reports that a run has no open question at a path.
type NotOpenError struct{ Run, Path string }

// Error returns the message with the run and the path.
func (e *NotOpenError) Error() string {
	return fmt.Sprintf("run %s has no open question at %s", e.Run, e.Path)
}

// ChangedError reports that an answer is for another question than the one that is open.
type ChangedError struct{ Run, Path string }

// Error returns the message with the run and the path.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("the question of run %s at %s has changed", e.Run, e.Path)
}
