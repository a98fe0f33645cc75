package kernel

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/journal"
)

// Errors that end a session; the run can be resumed.
var (
	ErrSuspended   = errors.New("suspended")
	ErrInterrupted = errors.New("waiting for a person")
	ErrPaused      = errors.New("the journal goes no further")     // of a session that only follows the journal
	ErrRewound     = errors.New("part of the journal became void") // of such a session: start again. Also for a record that arrived with one that it is past
)

// Errors that node code gets from every wait below a cut scope.
var (
	ErrTimeout   = error(timeoutError{})
	ErrCancelled = errors.New("cancelled")
)

// ErrInterrupting is returned by an effect that a message with Interrupt ended.
var ErrInterrupting = errors.New("interrupted by a message")

// Unavailable is returned by an Effect.Perform that could not start because a resource
// cannot be used now: another process holds it, or a disk is full. It ends the session
// without an outcome; the effect is performed when the run is resumed. A Write must not
// return it.
type Unavailable struct{ Err error }

// Error returns the message of Err.
func (u *Unavailable) Error() string { return u.Err.Error() }

// Unwrap returns Err.
func (u *Unavailable) Unwrap() error { return u.Err }

// ErrDeadlock is returned when every branch waits for another one.
var ErrDeadlock = errors.New("every branch waits and no effect is open")

// ErrWithheld is returned when every branch waits, and Options.Recorded withholds an effect.
var ErrWithheld = errors.New("an effect is not performed")

// Open is an open effect that needs a human.
type Open struct {
	Path    string
	Request []byte // body of its intent
	// Why is the encoded Failure of a write whose outcome is unknown; nil = its session
	// ended before the write did.
	Why []byte
}

// Parked ends a session that can continue only when questions are answered. It is an
// ErrInterrupted.
type Parked struct{ Questions []Open }

// Error lists the paths of the questions.
func (p *Parked) Error() string { return ErrInterrupted.Error() + ": " + paths(p.Questions) }

// Unwrap returns ErrInterrupted.
func (p *Parked) Unwrap() error { return ErrInterrupted }

// Paused ends a session that only follows the journal, with what is open at the journal's
// end. It is an ErrPaused.
type Paused struct {
	Questions, Writes []Open
	Others            int // effects that can be repeated, and sleeps
}

// Error returns the message of ErrPaused.
func (p *Paused) Error() string { return ErrPaused.Error() }

// Unwrap returns ErrPaused.
func (p *Paused) Unwrap() error { return ErrPaused }

// UnknownOutcome is returned by an Effect.Perform that started and may have taken effect.
// A write that returns it stays open: once no other effect is in flight the session ends
// with NeedsReview, as for a write left open by an earlier session. Other effects end
// with Why.
type UnknownOutcome struct{ Why *journal.Failure }

// Error returns the message of the failure.
func (u *UnknownOutcome) Error() string { return u.Why.Message }

// Unwrap returns the failure.
func (u *UnknownOutcome) Unwrap() error { return u.Why }

// NeedsReview ends a session whose run has writes with unknown outcomes. Options.Resolve
// decides about them.
type NeedsReview struct {
	Path   string // path of the first write
	Writes []Open
}

// Error lists the paths of the writes.
func (n *NeedsReview) Error() string { return "needs review: " + paths(n.Writes) }

func paths(open []Open) string {
	names := make([]string, len(open))
	for i, o := range open {
		names[i] = o.Path
	}
	return strings.Join(names, ", ")
}

// DriftClass is the kind of difference between code and journal.
type DriftClass string

// The drift classes.
const (
	DriftRun     DriftClass = "run"     // the journal belongs to another run
	DriftRequest DriftClass = "request" // the same effect with another request or class
	DriftOrder   DriftClass = "order"   // an effect that is elsewhere in the journal
	DriftExtra   DriftClass = "extra"   // an effect that is not in the journal
	DriftMissing DriftClass = "missing" // an effect in the journal that the code did not issue
)

// Drift ends a replay whose code differs from the journal.
type Drift struct {
	Class   DriftClass
	Path    string // of the effect
	Message string
}

// Error returns class, path and message.
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

// Error returns the path and the panic value.
func (p *PanicError) Error() string {
	if p.Path != "" {
		return fmt.Sprintf("panic in effect %s: %v", p.Path, p.Value)
	}
	return fmt.Sprintf("panic in node code: %v", p.Value)
}

// Unwrap returns the panic value if it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// StoreError reports that the journal could not be read or appended to. It ends the
// session; node code never sees it.
type StoreError struct{ Err error }

// Error returns the journal's error.
func (s *StoreError) Error() string { return s.Err.Error() }

// Unwrap returns the journal's error.
func (s *StoreError) Unwrap() error { return s.Err }

// timeoutError is the error of an expired Timeout. engine.TimedOut recognizes it by its
// method.
type timeoutError struct{}

func (timeoutError) Error() string { return "timeout" }

// ScopeTimedOut marks the error for engine.TimedOut.
func (timeoutError) ScopeTimedOut() {}
