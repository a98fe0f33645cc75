// Package kernel runs plain Go code durably: every effect is journaled, intent
// before and result after, and a run that was cut is run again from its start
// with the recorded results until it is where it was.
//
//	Run -> main(Scope) -> Do/Ask/Sleep: intent into the tick, the branch waits
//	all branches wait  -> the tick is committed, its effects are started
//	a result arrives   -> into the next tick, its branch goes on
//	re-run             -> the same, but results come from the journal, in its order
//
// Branches are coroutines, one running at a time, and one thing is delivered
// at a time: what branches share needs no lock and comes out the same on every
// re-run. The first branch runs on the caller's goroutine and is the scheduler
// whenever it waits.
//
// The package knows the records of package journal and nothing of what effects
// mean: no plan, no model, no tool.
package kernel
