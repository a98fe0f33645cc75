package journal

import (
	"errors"
	"fmt"
)

// ErrFull says that the disk, or the quota on it, is full.
var ErrFull = errors.New("disk full")

// HeldError says that another process, or this one, has the run open.
type HeldError struct {
	Run string
	PID int // 0 = unknown
}

// Error names the run and the holder.
func (e *HeldError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("run %s is held by another process", e.Run)
	}
	return fmt.Sprintf("run %s is held by pid %d", e.Run, e.PID)
}

// ExistsError says that a new run was to take the id of one that exists.
type ExistsError struct{ Run string }

// Error names the run and the ways out.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("run %s exists: resume it, or choose another id", e.Run)
}

// appendError is what ends a file journal.
func appendError(run string, err error) error {
	if isFull(err) {
		return fmt.Errorf("journal of run %s cannot append, free some space and resume: %w: %w", run, ErrFull, err)
	}
	return fmt.Errorf("journal of run %s cannot append: %w", run, err)
}

// full marks an error of a full disk as ErrFull.
func full(err error) error {
	if err != nil && isFull(err) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}
