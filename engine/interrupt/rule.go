package interrupt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
)

// Rule restricts who may answer a question with anything but a denial. The zero Rule lets
// everyone answer.
type Rule struct {
	Approvers component.GuardRef // condition on the actor
	FourEyes  bool               // not by those who started or changed the run
}

// IsZero reports whether everyone may answer.
func (r Rule) IsZero() bool { return r.Approvers.IsZero() && !r.FourEyes }

// String returns the rule as a spec writes it.
func (r Rule) String() string {
	var parts []string
	if !r.Approvers.IsZero() {
		parts = append(parts, "approvers: "+r.Approvers.Source)
	}
	if r.FourEyes {
		parts = append(parts, "four_eyes: true")
	}
	return strings.Join(parts, ", ")
}

// Or returns the rule, or other for what the rule does not restrict.
func (r Rule) Or(other Rule) Rule {
	if r.Approvers.IsZero() {
		r.Approvers = other.Approvers
	}
	r.FourEyes = r.FourEyes || other.FourEyes
	return r
}

// AsksAboutEdits reports whether an edited call needs an approval of its own: by someone else,
// or because the condition depends on the call.
func (r Rule) AsksAboutEdits() bool {
	return r.FourEyes || strings.Contains(r.Approvers.Source, "tool") || strings.Contains(r.Approvers.Source, "$env")
}

// Authors are the actors whose input a run contains.
type Authors struct {
	Started Actor   // the zero Actor is unknown
	Changed []Actor // see engine.DecisionRecord.ChangesRun; and who sent a message
}

// Check returns nil if the rule lets by answer the question at path. env has the
// variables of Approvers. Otherwise the error is a *NotApproverError. An unknown actor and
// an expression that cannot be evaluated never pass.
func (r Rule) Check(path string, by Actor, authors Authors, env map[string]any) error {
	no := func(format string, args ...any) error {
		return &NotApproverError{Path: path, By: by, Rule: r, Reason: fmt.Sprintf(format, args...)}
	}
	if r.IsZero() {
		return nil
	}
	if !by.Known() {
		return no("the author of the answer is unknown; answer with pexctl resume, or as a client of a server with auth")
	}
	if r.FourEyes {
		switch {
		case !authors.Started.Known():
			return no("four_eyes: it is unknown who started the run")
		case by.Same(authors.Started):
			return no("four_eyes: %s started the run, so someone else must approve", by)
		case slices.ContainsFunc(authors.Changed, func(a Actor) bool { return !a.Known() }):
			return no("four_eyes: it is unknown who changed the run")
		case slices.ContainsFunc(authors.Changed, by.Same):
			return no("four_eyes: %s changed the run, so someone else must approve", by)
		}
	}
	ok, err := r.Approvers.Eval(env)
	switch {
	case err != nil:
		return no("approvers cannot be evaluated for %s, which denies the approval: %v", by, err)
	case !ok:
		return no("%s is not one of the approvers: %s", by, r.Approvers.Source)
	}
	return nil
}

// NotApproverError reports an answer by an actor that the rule of its question does not
// permit. Nothing was stored.
type NotApproverError struct {
	Path   string
	By     Actor
	Rule   Rule
	Reason string
}

// Error returns the message with the path, the actor and the rule.
func (e *NotApproverError) Error() string { return e.Path + ": " + e.Reason }
