package breaker

import "time"

// Breaker is the state of one service. Set the first three fields; the others
// are the breaker's.
type Breaker struct {
	Trip  int           // failures in a row that open it
	Pause time.Duration // how long it stays open; doubled each time that a call which tries it fails,
	Most  time.Duration // up to this; 0 = Pause

	Failures int       // in a row
	Until    time.Time // while open: when a call may try the service
	Trying   bool      // such a call is under way
	current  time.Duration
}

// Open reports whether calls are kept away.
func (b *Breaker) Open() bool { return b.Failures >= b.Trip }

// Left is how long an open breaker stays open without a call that tries it; 0
// or less = one may, unless one is under way.
func (b *Breaker) Left(now time.Time) time.Duration {
	if !b.Open() {
		return 0
	}
	return b.Until.Sub(now)
}

// Allows reports whether a call may be made now.
func (b *Breaker) Allows(now time.Time) bool {
	return !b.Open() || !b.Trying && b.Left(now) <= 0
}

// Fail counts a failure. At least so long, if it opens the breaker, no call is
// made.
func (b *Breaker) Fail(now time.Time, least time.Duration) {
	if b.Failures++; !b.Open() {
		return
	}
	b.current = min(max(2*b.current, b.Pause), max(b.Most, b.Pause))
	b.Until = now.Add(max(b.current, least))
}

// Succeed closes the breaker.
func (b *Breaker) Succeed() { b.Failures, b.Until, b.current = 0, time.Time{}, 0 }
