package wire

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/retry"
)

// MaxRetryAfter is the longest wait that is read from a server's answer; a longer one is cut to it.
const MaxRetryAfter = 24 * time.Hour

// Defaults of a Retry that leaves its delays out.
const (
	defaultInitialDelay = 500 * time.Millisecond
	defaultMaxDelay     = 30 * time.Second
)

// Retry is how often and how patiently a call is repeated.
type Retry struct {
	MaxAttempts  int           // attempts in all; 0 and 1 = one
	InitialDelay time.Duration // 0 = 500 ms; doubled with each attempt
	MaxDelay     time.Duration // 0 = 30 s; a server that asks for more is not asked again
	Jitter       bool          // wait a random time between 0 and the computed one
}

// Delay is the wait after attempt n (from 1) failed. The wait that the server
// asks for, which TooLong allows, is a lower bound. random gives a number in [0,1) and is asked
// only with Jitter.
func (r Retry) Delay(n int, after time.Duration, random func() float64) time.Duration {
	d, most := r.InitialDelay, r.most()
	if d <= 0 {
		d = defaultInitialDelay
	}
	d = retry.Backoff(n, d, most)
	if r.Jitter {
		d = time.Duration(float64(d) * random())
	}
	return max(d, after)
}

func (r Retry) most() time.Duration {
	if r.MaxDelay <= 0 {
		return defaultMaxDelay
	}
	return r.MaxDelay
}

// TooLong says that a server asks for a longer wait than MaxDelay, "" = it does not.
func (r Retry) TooLong(after time.Duration) string {
	if most := r.most(); after > most {
		return fmt.Sprintf("the server asks to wait %s, longer than retry.max_delay (%s)", roundUp(after), most)
	}
	return ""
}

// LongWaitError is a failed attempt that is not repeated because the server asks
// for a longer wait than the Retry allows.
type LongWaitError struct {
	Asked time.Duration
	Says  string // Retry.TooLong
	Err   error  // of the attempt
}

// Error is the failure and why the call is not repeated.
func (e *LongWaitError) Error() string { return e.Err.Error() + "; " + e.Says }

// Unwrap gives the failure of the attempt.
func (e *LongWaitError) Unwrap() error { return e.Err }

// impatient is the *LongWaitError of a failure whose server asks for too long a
// wait, or nil. How long a breaker holds a call is not for the server to say.
func (r Retry) impatient(err error) error {
	after := wished(err)
	if says := r.TooLong(after); says != "" && !errors.Is(err, ErrOpen) {
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
