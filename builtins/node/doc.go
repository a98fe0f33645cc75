// Package node implements the kinds of graph nodes.
//
//	planner    -> plan or answer                    executor  -> runs steps of the plan
//	reflector  -> remaining plan or answer          finalizer -> answer from the step results
//	tool, agent, transform, router, human: for graphs defined in a spec
//
// Each kind has one file with its Config (what a user writes) and its Run method. Code
// that several kinds share is in a file or package named after its subject: turn (asks
// for a plan until it is usable), prompts and values (prompt texts and their variables),
// cost (worst-case model calls), planning (checks plans), answer (checks answers), render
// (state as text), compact (shortens conversations), reply (parses model replies).
//
// The executor spans several files: batch schedules steps, step makes the attempts of one
// step, and an attempt is a loop of tool calls (native or react, which implement
// protocol), guided, or a sub-agent.
//
// Between effects, code in this package must be deterministic, because a resumed run
// executes it again: no clock, no randomness, no map order, no goroutines, no locks.
package node
