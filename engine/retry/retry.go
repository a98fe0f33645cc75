package retry

import (
	"fmt"
	"time"
)

// Defaults of a Policy that leaves its delays out.
const (
	DefaultInitialDelay = 500 * time.Millisecond
	DefaultMaxDelay     = 30 * time.Second
)

// Policy is how often and how patiently a call is repeated.
type Policy struct {
	MaxAttempts  int           // attempts in all; 0 and 1 = one
	InitialDelay time.Duration // 0 = DefaultInitialDelay; doubled with each attempt
	MaxDelay     time.Duration // 0 = DefaultMaxDelay; a server that asks for more is not asked again
	Jitter       bool          // full jitter: a random delay between 0 and the computed one
}

// Backoff is the wait after attempt n (from 1) failed, without jitter. It is
// not bounded where the policy has no MaxDelay.
func (p Policy) Backoff(n int) time.Duration {
	first := p.InitialDelay
	if first <= 0 {
		first = DefaultInitialDelay
	}
	return Backoff(n, first, p.MaxDelay)
}

// Delay is the wait after attempt n (from 1) failed. The wait that the server
// asks for, which TooLong allows, is a lower bound. random returns a number in
// [0,1) and is asked only with Jitter.
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

// TooLong says that a server asks for a longer wait than MaxDelay, "" = it does not.
func (p Policy) TooLong(after time.Duration) string {
	most := p.most()
	if after <= most {
		return ""
	}
	asked := (after + time.Second - 1).Truncate(time.Second)
	return fmt.Sprintf("the server asks to wait %s, longer than retry.max_delay (%s)", asked, most)
}

// Backoff is the wait after failure n (from 1): first, doubled with each
// failure, at most most; 0 = there is no bound.
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
