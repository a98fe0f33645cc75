package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest wait that a server may ask for; a longer one is cut to it.
const MaxRetryAfter = time.Minute

// Defaults of a Retry that leaves its delays out.
const (
	defaultInitialDelay = 500 * time.Millisecond
	defaultMaxDelay     = 30 * time.Second
)

// Retry is how often and how patiently a call is repeated.
type Retry struct {
	MaxAttempts  int           // attempts in all; 0 and 1 = one
	InitialDelay time.Duration // 0 = 500 ms; doubled with each attempt
	MaxDelay     time.Duration // 0 = 30 s
	Jitter       bool          // wait a random time between 0 and the computed one
}

// Delay is the wait after attempt n (from 1) failed. The server's wish, cut to
// MaxRetryAfter, is a lower bound. random gives a number in [0,1) and is asked
// only with Jitter.
func (r Retry) Delay(n int, after time.Duration, random func() float64) time.Duration {
	d, most := r.InitialDelay, r.MaxDelay
	if d <= 0 {
		d = defaultInitialDelay
	}
	if most <= 0 {
		most = defaultMaxDelay
	}
	for i := 1; i < n && d < most; i++ {
		d *= 2
	}
	d = min(d, most)
	if r.Jitter {
		d = time.Duration(float64(d) * random())
	}
	return max(d, min(after, MaxRetryAfter))
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
