package model

import (
	"errors"
	"fmt"
	"time"
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

// Backoff is the delay before attempt n (from 2) of a policy, without jitter.
func (p RetryPolicy) Backoff(n int) time.Duration {
	d := p.InitialDelay
	if d <= 0 {
		d = 500 * time.Millisecond
	}
	for ; n > 2; n-- {
		d *= 2
	}
	if p.MaxDelay > 0 {
		d = min(d, p.MaxDelay)
	}
	return d
}

// defaultMaxDelay is the longest wait before a repeat where the policy has none.
const defaultMaxDelay = 30 * time.Second

// TooLong says that a server asks for a longer wait than MaxDelay, "" = it does not.
func (p RetryPolicy) TooLong(after time.Duration) string {
	most := p.MaxDelay
	if most <= 0 {
		most = defaultMaxDelay
	}
	if after <= most {
		return ""
	}
	return fmt.Sprintf("the server asks to wait %s, longer than retry.max_delay (%s)", after, most)
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
