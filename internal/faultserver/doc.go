// Package faultserver tests a provider's model against a server that fails in many ways. For
// tests only.
//
//	Format      the responses of the provider's server, the only part a provider adds
//	Run         a thousand concurrent calls, each with one of the faults
//	RunOnClock  silence and slow responses against the real limits, in virtual time
//	RunInMemory endless responses against the real limits, in a separate process
//	Cancel      calls cancelled at any byte of a reply
//
// Each call must return the correct reply or a *model.Error of the right kind, never a
// partial reply; waits must follow the retry policy, and no goroutine may leak. A seed
// determines the fault of each call.
//
// The package must not know providers, nor what a protocol means.
package faultserver
