package badger

import (
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/stop"
)

// LockedError says that another process kept the store for longer than this
// one would wait.
type LockedError struct {
	Dir    string
	PID    int // of the holder, 0 where it is not known
	Waited time.Duration
	Err    error // the context's, where that ended the wait
}

// Error names the holder and the way out.
func (e *LockedError) Error() string {
	by := "another process"
	if e.PID != 0 {
		by = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("memory store %s is in use by %s (waited %v); end it or use another memory.path",
		e.Dir, by, e.Waited.Round(time.Millisecond))
}

// Unwrap is the context's error, if that ended the wait.
func (e *LockedError) Unwrap() error { return e.Err }

// StopCode is the stop code of a run that met this error.
func (e *LockedError) StopCode() stop.Code { return stop.StoreUnavailable }

// FullError says that the disk has too little room to open the store safely.
type FullError struct {
	Dir        string
	Free, Need int64 // bytes
}

// Error says how much room is there and how much is wanted.
func (e *FullError) Error() string {
	return fmt.Sprintf("memory store %s needs %d MB of free disk space, %d MB are left; make room and try again",
		e.Dir, e.Need>>20, e.Free>>20)
}

// StopCode is the stop code of a run that met this error.
func (e *FullError) StopCode() stop.Code { return stop.StoreFull }

// CorruptError says what is damaged. The store has not been opened, or is left
// as it was found.
type CorruptError struct {
	Dir  string
	What string
	Err  error // Badger's, where it found the damage
}

// Error names the damage and the way out.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("memory store %s is damaged: %s; restore a backup, or move the directory away to begin anew", e.Dir, e.what())
}

func (e *CorruptError) what() string {
	if e.Err != nil {
		return e.What + ": " + e.Err.Error()
	}
	return e.What
}

// Unwrap is Badger's error, if it found the damage.
func (e *CorruptError) Unwrap() error { return e.Err }

// StopCode is the stop code of a run that met this error.
func (e *CorruptError) StopCode() stop.Code { return stop.StoreCorrupt }

// NewerError says that a later version of the program wrote the store.
type NewerError struct {
	Dir    string
	Format int
}

// Error names both formats.
func (e *NewerError) Error() string {
	return fmt.Sprintf("memory store %s has format %d, this program knows up to %d; use the newer pexctl", e.Dir, e.Format, format)
}
