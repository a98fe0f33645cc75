package failure

import (
	"fmt"
)

// Kind is the cause of a failure.
type Kind int

// The kinds of failures.
const (
	Caller         Kind = iota // the caller's mistake: arguments, a spec, a name that does not exist
	Infrastructure             // the machine, a provider, a store or a tool server
)

// Error is an error of a known kind.
type Error struct {
	Kind Kind
	Err  error
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error itself.
func (e *Error) Unwrap() error { return e.Err }

// Usagef returns an error caused by the caller.
func Usagef(format string, args ...any) error {
	return &Error{Caller, fmt.Errorf(format, args...)}
}

// Infra returns err as an infrastructure error.
func Infra(err error) error { return &Error{Infrastructure, err} }

// Detail adds information to an error that is not part of its message.
type Detail struct {
	Err  error
	Code string // for programs; "" = the one of the exit code
	Hint string // how to fix it, often a command; "" = none
}

func (p *Detail) Error() string { return p.Err.Error() }

func (p *Detail) Unwrap() error { return p.Err }

// WithHintf adds a hint to an error.
func WithHintf(err error, format string, args ...any) error {
	return &Detail{Err: err, Hint: fmt.Sprintf(format, args...)}
}

// NotFoundf returns an error about a name that does not exist.
func NotFoundf(hint, format string, args ...any) error {
	return &Detail{Usagef(format, args...), "not_found", hint}
}
