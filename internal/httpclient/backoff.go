package httpclient

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/retry"
)

// MaxRetryAfter is the maximum wait read from a response; longer ones are reduced to it.
const MaxRetryAfter = 24 * time.Hour

// LongWaitError is a failed attempt that is not repeated because the server asks for a longer wait than the policy
// allows.
type LongWaitError struct {
	Wait   time.Duration
	Advice string // retry.Policy.TooLong
	Err    error  // of the attempt
}

// Error returns the failure and why the call is not repeated.
func (e *LongWaitError) Error() string { return e.Err.Error() + "; " + e.Advice }

// Unwrap returns the failure of the attempt.
func (e *LongWaitError) Unwrap() error { return e.Err }

// tooLongWait returns a *LongWaitError if the server asks for too long a wait, or nil. The waits of a breaker are not
// limited by the policy.
func tooLongWait(p retry.Policy, err error) error {
	after := serverWait(err)
	if advice := p.TooLong(after); advice != "" && !errors.Is(err, ErrOpen) {
		return &LongWaitError{after, advice, err}
	}
	return nil
}

// RetryAfter returns the wait that the server asks for, in milliseconds, seconds or as a date. Invalid and past
// values are 0.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return capped(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return capped(s)
	}
	if at, err := http.ParseTime(v); err == nil {
		return capped(at.Sub(now).Seconds())
	}
	return 0
}

// capped converts seconds to a wait between 0 and MaxRetryAfter. NaN is 0.
func capped(seconds float64) time.Duration {
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, MaxRetryAfter.Seconds()) * float64(time.Second))
}
