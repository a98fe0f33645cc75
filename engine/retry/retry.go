package retry

import (
	"fmt"
	"time"
)

// Defaults of a Policy without delays.
const (
	DefaultInitialDelay = 500 * time.Millisecond
	DefaultMaxDelay     = 30 * time.Second
)

// Policy is a retry policy.
type Policy struct {
	MaxAttempts  int           // including the first; 0 and 1 = one
	InitialDelay time.Duration // 0 = DefaultInitialDelay; doubled with each attempt
	MaxDelay     time.Duration // 0 = DefaultMaxDelay; no retry if the server asks for more
	Jitter       bool          // full jitter: a random delay from 0 to the computed one
}

// Backoff returns the delay after attempt n (from 1), without jitter. It is unlimited if
// the policy has no MaxDelay.
func (p Policy) Backoff(n int) time.Duration {
	first := p.InitialDelay
	if first <= 0 {
		first = DefaultInitialDelay
	}
	return Backoff(n, first, p.MaxDelay)
}

// Delay returns the delay after attempt n (from 1), at least the delay that the server
// asked for (see TooLong). random returns a number in [0,1) and is called only with
// Jitter.
func (p Policy) Delay(n int, after time.Duration, random func() float64) time.Duration {
	p.MaxDelay = p.most()
	d := p.Backoff(n)
	if p.Jitter {
		d = time.Duration(float64(d) * random())
	}
	return max(d, after)
}

func (p Policy) most() time.Duration {
	if p.MaxDelay <= 0 {
		return DefaultMaxDelay
	}
	return p.MaxDelay
}

// TooLong returns an error text if a server asks for more than MaxDelay, or "".
func (p Policy) TooLong(after time.Duration) string {
	most := p.most()
	if after <= most {
		return ""
	}
	asked := (after + time.Second - 1).Truncate(time.Second)
	return fmt.Sprintf("the server asks to wait %s, longer than retry.max_delay (%s)", asked, most)
}

// Backoff returns the delay after failure n (from 1): first, doubled with each failure,
// at most most; 0 = unlimited.
func Backoff(n int, first, most time.Duration) time.Duration {
	d := first
	for i := 1; i < n && (most <= 0 || d < most) && d < 1<<61; i++ {
		d *= 2
	}
	if most > 0 {
		d = min(d, most)
	}
	return d
}
