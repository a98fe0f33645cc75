// Package chaos calls a provider's model many times while its server does what
// servers do on their worst day. For tests only.
//
//	Format      how the provider's server answers: the only thing a provider adds
//	Run         a thousand calls, side by side, each met by a fault of the list
//	RunOnClock  silence and drips against the real limits, in virtual time
//	RunInMemory what does not end against the real bounds, in a process of its own
//	Cancel      calls that end at any byte of a reply
//
// Each call ends in the right answer or in a *model.Error of the right
// kind, never in a part of an answer; waits keep to what retries promise, and no
// goroutine stays. Which fault meets which call comes from a seed.
//
// The package must not know any provider, nor what a protocol means.
package chaos
