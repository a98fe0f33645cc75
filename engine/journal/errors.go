package journal

import (
	"errors"
	"fmt"
)

// ErrFull says that the disk, or the quota on it, is full.
var ErrFull = errors.New("disk full")

// HeldError says that another process, or this one, has the run open, or the
// file of many runs.
type HeldError struct {
	Run  string
	PID  int    // 0 = unknown
	File string // not "": what is held in place of a run
}

// Error names the run and the holder.
func (e *HeldError) Error() string {
	what := "run " + e.Run
	if e.File != "" {
		what = e.File
	}
	if e.PID == 0 {
		return what + " is held by another process"
	}
	return fmt.Sprintf("%s is held by pid %d", what, e.PID)
}

// ExistsError says that a new run was to take the id of one that exists.
type ExistsError struct{ Run string }

// Error names the run and the ways out.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("run %s exists: resume it, or choose another id", e.Run)
}

// appendError is what ends a file journal.
func appendError(run string, err error) error { return cannotAppend("journal of run "+run, err) }

func cannotAppend(what string, err error) error {
	if isFull(err) {
		return fmt.Errorf("%s cannot append, free some space and resume: %w: %w", what, ErrFull, err)
	}
	return fmt.Errorf("%s cannot append: %w", what, err)
}

// full marks an error of a full disk as ErrFull.
func full(err error) error {
	if err != nil && isFull(err) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}
