package model

import (
	"errors"
)

// MaybeBilled reports whether the failed call may have been answered and billed
// nevertheless. Providers do not charge for requests they reject.
func (e *Error) MaybeBilled() bool {
	switch e.Kind {
	case NetworkError, Truncated, CallTimeout, BadReply, Interrupted:
		return !e.NotSent
	default:
		return false
	}
}

// AllowsFallback reports whether another model may succeed.
func (e *Error) AllowsFallback() bool {
	switch e.Kind {
	case BadRequest, ContextTooLong, NoReply, Interrupted:
		return false
	default:
		return true
	}
}

// AsError returns the *Error in err's chain, or nil.
func AsError(err error) *Error {
	if me, ok := errors.AsType[*Error](err); ok {
		return me
	}
	return nil
}

// Permanent reports whether every call of this LLM would fail the same way: a wrong key,
// an unknown model, a script without a reply.
func (e *Error) Permanent() bool {
	switch e.Kind {
	case AuthError, NotFound, NoReply:
		return true
	default:
		return false
	}
}
