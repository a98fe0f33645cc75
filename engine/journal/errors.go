package journal

import (
	"errors"
	"fmt"
)

// ErrFull reports that the disk or its quota is full.
var ErrFull = errors.New("disk full")

// errMoved reports that a file was removed or replaced while it was being locked.
var errMoved = errors.New("the file was moved")

// InUseError reports that a run, or a file of many runs, is already open in this or
// another process.
type InUseError struct {
	Run  string
	PID  int    // 0 = unknown
	File string // not "": the file that is open, instead of a run
}

// Error names the run and the process.
func (e *InUseError) Error() string {
	what := "run " + e.Run
	if e.File != "" {
		what = e.File
	}
	if e.PID == 0 {
		return what + " is held by another process"
	}
	return fmt.Sprintf("%s is held by pid %d", what, e.PID)
}

// ExistsError reports that the id for a new run is taken.
type ExistsError struct{ Run string }

// Error names the run and what to do.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("a run with the id %q already exists: resume it, or choose another id", e.Run)
}

// IDError reports that no run can have an id.
type IDError struct{ Run string }

// Error names the id and what ids may contain.
func (e *IDError) Error() string {
	return fmt.Sprintf("run id %q: use 1 to 64 letters, digits, '_', '.' and '-', beginning with a letter or digit", e.Run)
}

// appendError returns the error that ends the journal of a run.
func appendError(run string, err error) error { return cannotAppend("journal of run "+run, err) }

func cannotAppend(what string, err error) error {
	if isFull(err) {
		return fmt.Errorf("%s cannot append, free some space and resume: %w: %w", what, ErrFull, err)
	}
	return fmt.Errorf("%s cannot append: %w", what, err)
}

// Full wraps ErrFull around the error of a full disk, and returns other errors unchanged.
func Full(err error) error {
	if err != nil && isFull(err) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}
