package engine

import (
	"errors"
	"fmt"
)

// ErrReplan is returned by a node to request a review of the plan now. The walk
// continues at Program.Replanner.
var ErrReplan = errors.New("replanning requested")

// ReplanError is the ErrReplan of a guard that requests a new plan. The planning node
// receives the message. If no node plans, the run stops as with a stopping guard.
type ReplanError struct {
	Path    string // of the guard
	Message string
}

// Error returns the message.
func (e *ReplanError) Error() string { return e.Message }

// Unwrap returns ErrReplan.
func (e *ReplanError) Unwrap() error { return ErrReplan }

// Verdict is the result of the guards at a place; the zero value means continue.
type Verdict struct {
	Deny    bool // before_tool: the call is denied
	Replan  bool // a new plan is requested
	Message string
	Path    string // of the guard
}

// ReplanRequest returns the error with which a node passes on a guard's request for a new plan, or
// nil.
func (v Verdict) ReplanRequest() error {
	if !v.Replan {
		return nil
	}
	return &ReplanError{Path: v.Path, Message: v.Message}
}

// Path returns the guard's path in the spec, such as guards[0].
func (g *Guard) Path() string { return fmt.Sprintf("guards[%d]", g.Index) }

// Text returns the guard's message, or one that contains its condition.
func (g *Guard) Text() string {
	if g.Message != "" {
		return g.Message
	}
	return "guard " + g.Name + " fired: " + g.When.Source
}
