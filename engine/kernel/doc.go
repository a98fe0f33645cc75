// Package kernel runs plain Go code durably. Every effect is journaled, the intent before
// and the result after. An interrupted run is replayed from its start with the recorded
// results until it reaches the point where it stopped.
//
//	Run -> main(Scope) -> Do/Ask/Sleep: add an intent to the tick; the branch waits
//	all branches wait  -> commit the tick, start its effects
//	a result arrives   -> add it to the next tick; its branch continues
//	a message arrives  -> add it to the tick while all branches wait; wake none of them
//	replay             -> the same, with results from the journal, in its order
//
// Branches are coroutines. One runs at a time and one event is delivered at a time, so
// state shared by branches needs no lock and develops identically in every replay. The
// first branch runs on the caller's goroutine and acts as the scheduler while it waits.
//
// A World performs the effects, keeps time and waits. The default one is this process.
//
// The package knows the records of package journal but not what effects mean: no plans,
// no models, no tools.
package kernel
