package httpclient

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/retry"
)

// MaxRetryAfter is the longest wait that is read from a server's answer; a longer one is cut to it.
const MaxRetryAfter = 24 * time.Hour

// LongWaitError is a failed attempt that is not repeated because the server asks
// for a longer wait than the policy allows.
type LongWaitError struct {
	Wait   time.Duration
	Advice string // retry.Policy.TooLong
	Err    error  // of the attempt
}

// Error is the failure and why the call is not repeated.
func (e *LongWaitError) Error() string { return e.Err.Error() + "; " + e.Advice }

// Unwrap gives the failure of the attempt.
func (e *LongWaitError) Unwrap() error { return e.Err }

// impatient is the *LongWaitError of a failure whose server asks for too long a
// wait, or nil. How long a breaker holds a call is not for the server to say.
func impatient(p retry.Policy, err error) error {
	after := wished(err)
	if says := p.TooLong(after); says != "" && !errors.Is(err, ErrOpen) {
		return &LongWaitError{after, says, err}
	}
	return nil
}

// retryAfter reads the server's wish to wait: milliseconds, seconds or a date.
// What cannot be read, and what lies in the past, is 0.
func retryAfter(h http.Header, now time.Time) time.Duration {
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

// capped turns seconds into a wait between 0 and MaxRetryAfter; NaN is 0.
func capped(seconds float64) time.Duration {
	if !(seconds > 0) {
		return 0
	}
	return time.Duration(min(seconds, MaxRetryAfter.Seconds()) * float64(time.Second))
}
