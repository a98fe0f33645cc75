package engine

import (
	"errors"
	"fmt"
)

// ErrReplan is returned by a node that wants the plan looked at now: the walk
// goes on where Program.Replanner says.
var ErrReplan = errors.New("the plan is to be looked at")

// ReplanError is the ErrReplan of a guard, which wants a new plan now: whoever
// makes it is told the message. Where nobody in the graph plans, it ends the run
// as a guard that stops it.
type ReplanError struct {
	Path    string // of the guard
	Message string
}

// Error gives the message.
func (e *ReplanError) Error() string { return e.Message }

// Unwrap makes it an ErrReplan.
func (e *ReplanError) Unwrap() error { return ErrReplan }

// Verdict is what the guards of a place say; the zero value is "go on".
type Verdict struct {
	Deny    bool // before_tool: the call is refused
	Replan  bool // a new plan is to be made now
	Message string
	Path    string // of the guard that says so
}

// Urge is the error by which a node passes on that a guard wants a new plan; nil
// = it wants none.
func (v Verdict) Urge() error {
	if !v.Replan {
		return nil
	}
	return &ReplanError{Path: v.Path, Message: v.Message}
}

// Path is the guard's place in the spec: guards[0].
func (g *Guard) Path() string { return fmt.Sprintf("guards[%d]", g.Index) }

// Text is the guard's message, or one that names its condition.
func (g *Guard) Text() string {
	if g.Message != "" {
		return g.Message
	}
	return "guard " + g.Name + " fired: " + g.When.Source
}
