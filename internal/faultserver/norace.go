//go:build !race

package faultserver

// defaultCalls is how many calls a run makes; underRace is whether the race detector is on.
const (
	defaultCalls = 1000
	underRace    = false
)
