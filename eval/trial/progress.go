package trial

import "time"

// Progress is how an evaluation that is under way stands.
type Progress struct {
	Trials, Total         int // finished of all; Total 0 = not known yet
	Passed, Failed, Error int
	InFlight              int
	Cost                  float64
	Tokens                int
	Elapsed               time.Duration
	Left                  time.Duration // 0 = not known
	Rate                  float64       // trials a second, of late
	Note                  string        // "waiting: rate limit", "curtailed 12"
}
