// Package replay answers the effects of a run from the journal of another: for replays,
// forks and tests with cassettes.
//
//	records -> New -> Recording --Find--> the recorded result, or a Mismatch
//
// It does not know how a run works: the kernel queries it before performing an effect.
package replay
