package kernel

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/journal"
)

// Errors that end a session; the run goes on when it is resumed.
var (
	ErrSuspended   = errors.New("suspended")
	ErrInterrupted = errors.New("waiting for a person")
	ErrPaused      = errors.New("the journal goes no further")     // of a session that only looks on
	ErrRewound     = errors.New("part of the journal became void") // of such a session: begin again
)

// Errors that node code sees from every wait below a scope that was cut.
var (
	ErrTimeout   = error(timeoutError{})
	ErrCancelled = errors.New("cancelled")
)

// Unavailable is returned by an Effect.Perform that could not even begin because
// something it needs cannot be used now: another process has it, a disk is full.
// It ends the session without an outcome; the effect is performed when the run
// is resumed. Never for a Write.
type Unavailable struct{ Err error }

// Error is what cannot be used.
func (u *Unavailable) Error() string { return u.Err.Error() }

// Unwrap gives what cannot be used.
func (u *Unavailable) Unwrap() error { return u.Err }

// ErrDeadlock says that every branch waits for another one.
var ErrDeadlock = errors.New("every branch waits and no effect is open")

// Open is an open effect that waits for a person.
type Open struct {
	Path    string
	Request []byte // as its intent holds it
	// Why is the Failure, encoded, by which a write ended whose outcome is
	// unknown; nil = the session that performed it ended first.
	Why []byte
}

// Parked ends a session in which nothing is left to do but to answer
// questions. It is an ErrInterrupted.
type Parked struct{ Questions []Open }

// Error names the questions by path.
func (p *Parked) Error() string { return ErrInterrupted.Error() + ": " + paths(p.Questions) }

// Unwrap makes it an ErrInterrupted.
func (p *Parked) Unwrap() error { return ErrInterrupted }

// Paused ends a session that only looks on: what is open where the journal
// ends. It is an ErrPaused.
type Paused struct {
	Questions, Writes []Open
	Others            int // effects that may be performed again, and sleeps
}

// Error says that the journal ends.
func (p *Paused) Error() string { return ErrPaused.Error() }

// Unwrap makes it an ErrPaused.
func (p *Paused) Unwrap() error { return ErrPaused }

// UnknownOutcome is the error of an effect's Perform that began and may have
// taken effect. A write that ends with it stays open: once nothing else is under
// way the session ends with a NeedsReview, as it does for a write that an earlier
// session left open. Other effects end with Why.
type UnknownOutcome struct{ Why *journal.Failure }

// Error is the message of the failure.
func (u *UnknownOutcome) Error() string { return u.Why.Message }

// Unwrap gives the failure.
func (u *UnknownOutcome) Unwrap() error { return u.Why }

// NeedsReview ends a session whose run holds writes of which nobody knows
// whether they took effect. Options.Resolve says what becomes of them.
type NeedsReview struct {
	Path   string // the first of them
	Writes []Open
}

// Error names the writes by path.
func (n *NeedsReview) Error() string { return "needs review: " + paths(n.Writes) }

func paths(open []Open) string {
	names := make([]string, len(open))
	for i, o := range open {
		names[i] = o.Path
	}
	return strings.Join(names, ", ")
}

// DriftClass says how code and journal differ.
type DriftClass string

// The drift classes.
const (
	DriftRun     DriftClass = "run"     // the journal is another run's
	DriftRequest DriftClass = "request" // the same effect with another request or class
	DriftOrder   DriftClass = "order"   // an effect that the journal has elsewhere
	DriftExtra   DriftClass = "extra"   // an effect that the journal does not have
	DriftMissing DriftClass = "missing" // the journal has an effect that the code did not make
)

// Drift ends a re-run whose code does something else than the journal says.
type Drift struct {
	Class   DriftClass
	Path    string // of the effect
	Message string
}

// Error names class and path.
func (d *Drift) Error() string {
	at := ""
	if d.Path != "" {
		at = " at " + d.Path
	}
	return fmt.Sprintf("code and journal differ (%s)%s: %s", d.Class, at, d.Message)
}

// PanicError is a panic in node code or in an effect, with its own stack.
type PanicError struct {
	Path  string // of the effect; "" in node code
	Value any
	Stack []byte
}

// Error names the value.
func (p *PanicError) Error() string {
	if p.Path != "" {
		return fmt.Sprintf("panic in effect %s: %v", p.Path, p.Value)
	}
	return fmt.Sprintf("panic in node code: %v", p.Value)
}

// Unwrap gives the value when it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// StoreError says that the journal could not be read or appended to. It ends
// the session and is never seen by node code.
type StoreError struct{ Err error }

// Error is the journal's error.
func (s *StoreError) Error() string { return s.Err.Error() }

// Unwrap gives the journal's error.
func (s *StoreError) Unwrap() error { return s.Err }

// timeoutError is the end of a scope's time. Its method is how engine.TimedOut
// knows it.
type timeoutError struct{}

func (timeoutError) Error() string { return "timeout" }

// ScopeTimedOut marks the error.
func (timeoutError) ScopeTimedOut() {}
