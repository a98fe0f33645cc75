package badger

import (
	"cmp"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/stop"
)

// LockedError reports that another process held the store for longer than LockWait.
type LockedError struct {
	Dir    string
	PID    int // of the holder; 0 = unknown
	Waited time.Duration
	Err    error // of the context, if it ended the wait
}

// Error names the holder and how to fix it.
func (e *LockedError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("memory store %s is in use by %s (waited %v); end it or use another memory.path",
		e.Dir, holder, e.Waited.Round(time.Millisecond))
}

// Unwrap returns the context's error, if it ended the wait.
func (e *LockedError) Unwrap() error { return e.Err }

// StopCode returns the stop code of a run that gets this error.
func (e *LockedError) StopCode() stop.Code { return stop.StoreUnavailable }

// FullError reports that the disk has too little space to open the store safely.
type FullError struct {
	Dir        string
	Free, Need int64 // bytes
}

// Error names the free and the required space.
func (e *FullError) Error() string {
	return fmt.Sprintf("memory store %s needs %d MB of free disk space but has %d MB; free some space and try again",
		e.Dir, e.Need>>20, e.Free>>20)
}

// StopCode returns the stop code of a run that gets this error.
func (e *FullError) StopCode() stop.Code { return stop.StoreFull }

// CorruptError reports damage. The store was not opened, or is unchanged.
type CorruptError struct {
	Dir  string
	What string
	Fix  string // "" = restore a backup, or start with an empty store
	Err  error  // Badger's error, if it found the damage
}

// Error names the damage and how to fix it.
func (e *CorruptError) Error() string {
	fix := cmp.Or(e.Fix, "restore a backup, or move the directory away to start with an empty store")
	return fmt.Sprintf("memory store %s is damaged: %s; %s", e.Dir, e.what(), fix)
}

func (e *CorruptError) what() string {
	if e.Err != nil {
		return e.What + ": " + e.Err.Error()
	}
	return e.What
}

// Unwrap returns Badger's error, if it found the damage.
func (e *CorruptError) Unwrap() error { return e.Err }

// StopCode returns the stop code of a run that gets this error.
func (e *CorruptError) StopCode() stop.Code { return stop.StoreCorrupt }

// NewerError reports that a later version of pexctl wrote the store.
type NewerError struct {
	Dir    string
	Format int
}

// Error names both formats.
func (e *NewerError) Error() string {
	return fmt.Sprintf("memory store %s has format %d, this version of pexctl supports formats up to %d; use a newer pexctl", e.Dir, e.Format, format)
}
