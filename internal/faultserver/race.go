//go:build race

package faultserver

// defaultCalls is how many calls a run makes, raced that the race detector is there.
const (
	usual = 300
	raced = true
)
