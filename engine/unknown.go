package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// UnknownOutcomeError is the failure of a call that began and has no definite
// answer, so that it may have taken effect: the process was killed, the
// connection broke after the request was sent, the server was lost.
type UnknownOutcomeError struct{ Err error }

// Error implements error.
func (e *UnknownOutcomeError) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *UnknownOutcomeError) Unwrap() error { return e.Err }

// UnknownOutcome marks the error of a call that may have taken effect.
func UnknownOutcome(err error) error { return &UnknownOutcomeError{err} }

// DefiniteError is the failure of a call whose outcome is known, although its
// time may have run out: it had not begun, it was refused, or it was undone.
type DefiniteError struct{ Err error }

// Error implements error.
func (e *DefiniteError) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *DefiniteError) Unwrap() error { return e.Err }

// Definite marks the error of a call whose outcome is known. Without the mark, a
// call that was stopped by its timeout counts as one that may have taken effect.
func Definite(err error) error { return &DefiniteError{err} }

// OnUnknown is what a run does about a write whose outcome is unknown.
type OnUnknown string

// The values of a tool's on_unknown; the zero value is ReviewUnknown.
const (
	ReviewUnknown   OnUnknown = "review"   // the run waits until a person has decided
	ContinueUnknown OnUnknown = "continue" // the model reads that the call may have taken effect
)

// failedUnknown is the code of a write whose outcome is unknown, in a run that
// continues.
const failedUnknown = "unknown_outcome"

// mayHaveEffect reports whether a call that failed with err may have taken
// effect; stopped says that it was ended from outside.
func mayHaveEffect(err error, stopped bool) bool {
	if _, ok := errors.AsType[*UnknownOutcomeError](err); ok {
		return true
	}
	_, known := errors.AsType[*DefiniteError](err)
	return stopped && !known
}

// unknown is the failure of a call whose outcome is unknown: f is what the tool
// said, key what the call was made with. A call that is no write fails as it
// would otherwise; its failure notes the key.
func (t *BoundTool) unknown(f *journal.Failure, took tries, key string) error {
	if t.effect() == ReadEffect {
		return failedAfter(took, f)
	}
	took.Key = key
	if t.effect() != WriteEffect {
		return failedAfter(took, f)
	}
	why := *failedWith(took, f)
	if t.Spec == nil || t.Spec.OnUnknown != ContinueUnknown {
		return &kernel.UnknownOutcome{Why: &why}
	}
	why.Code = failedUnknown
	why.Message = fmt.Sprintf("The outcome of this call is unknown; it may have taken effect: %s\n"+
		"Do not repeat the call. Find out by other means whether it took effect, or report that this is uncertain.", f.Message)
	return &why
}

// uncertain are the idempotency keys of calls that may have taken effect, by
// what was called. A repeated call gets the key of the first, so that a server
// that knows it does not act twice. It belongs to the outermost run.
type uncertain map[string]string

// identity names a call for uncertain: the program, the tool and the arguments,
// however they are written.
func (c *toolRun) identity() string {
	return c.s.r.program.Digest + "\x00" + c.rec.Tool + "\x00" + string(encoded(decoded(c.rec.Args)))
}

// repeats is the idempotency key of an earlier call like this one that may have
// taken effect, or "".
func (c *toolRun) repeats() string {
	known := c.s.r.root().uncertain
	if len(known) == 0 {
		return ""
	}
	return known[c.identity()]
}

// settled books what is known of the effect once the call has ended: f is its
// failure, nil where it succeeded.
func (c *toolRun) settled(f *journal.Failure) {
	root := c.s.r.root()
	switch {
	case f == nil && c.repeated != "":
		delete(root.uncertain, c.identity())
	case f != nil && c.repeated == "":
		if used := triesOf(f).Key; used != "" {
			if root.uncertain == nil {
				root.uncertain = uncertain{}
			}
			if id := c.identity(); root.uncertain[id] == "" {
				root.uncertain[id] = used
			}
		}
	}
	if f != nil && f.Code == failedUnknown {
		c.rec.Status = CallUnknown
		c.s.Record(Warned{Text: fmt.Sprintf("the outcome of a call of %s is unknown, and it may have taken effect (on_unknown: continue)", c.rec.Tool)})
	}
}

// recordedKey is the idempotency key that a recorded write was performed with;
// run is the id of its run.
func recordedKey(run string, intent *journal.Record) string {
	var q struct {
		Key string `json:"key"`
	}
	if json.Unmarshal(intent.Body, &q) == nil && q.Key != "" {
		return q.Key
	}
	return run + "/" + intent.Path
}
