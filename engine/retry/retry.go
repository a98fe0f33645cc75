package retry

import "time"

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
