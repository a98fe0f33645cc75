package breaker

import "time"

// Breaker is the state of one service. Callers set the first three fields only.
type Breaker struct {
	Trip     int           // consecutive failures that open it
	Pause    time.Duration // how long it stays open; doubled each time a probe fails
	MaxPause time.Duration // maximum of the doubled Pause; 0 = Pause

	Failures int       // consecutive failures
	Until    time.Time // while open: when a probe is allowed
	Probing  bool      // a probe is in flight
	current  time.Duration
}

// Open reports whether the breaker rejects calls.
func (b *Breaker) Open() bool { return b.Failures >= b.Trip }

// Remaining returns how long an open breaker allows no probe; 0 or less = one is allowed
// unless one is in flight.
func (b *Breaker) Remaining(now time.Time) time.Duration {
	if !b.Open() {
		return 0
	}
	return b.Until.Sub(now)
}

// Allows reports whether a call may be made now.
func (b *Breaker) Allows(now time.Time) bool {
	return !b.Open() || !b.Probing && b.Remaining(now) <= 0
}

// Fail counts a failure. If it opens the breaker, no call is allowed for at least least.
func (b *Breaker) Fail(now time.Time, least time.Duration) {
	if b.Failures++; !b.Open() {
		return
	}
	b.current = min(max(2*b.current, b.Pause), max(b.MaxPause, b.Pause))
	b.Until = now.Add(max(b.current, least))
}

// Succeed closes the breaker.
func (b *Breaker) Succeed() { b.Failures, b.Until, b.current = 0, time.Time{}, 0 }
