package model

import (
	"errors"
)

// MaybeBilled says that the failed call may have been answered all the same, and
// be on the bill. Providers do not charge for what they refuse.
func (e *Error) MaybeBilled() bool {
	switch e.Kind {
	case NetworkError, Truncated, CallTimeout, BadReply:
		return !e.Unsent
	default:
		return false
	}
}

// AllowsFallback says whether another model may do better.
func (e *Error) AllowsFallback() bool {
	switch e.Kind {
	case BadRequest, ContextTooLong, NoReply:
		return false
	default:
		return true
	}
}

// AsError finds the model's error in err, or nil.
func AsError(err error) *Error {
	if me, ok := errors.AsType[*Error](err); ok {
		return me
	}
	return nil
}

// Permanent says that no other call of this llm would do better, so that the run
// had better end: a wrong key, an unknown model, a script without a reply.
func (e *Error) Permanent() bool {
	switch e.Kind {
	case AuthError, NotFound, NoReply:
		return true
	default:
		return false
	}
}
