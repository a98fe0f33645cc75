// Package node holds the kinds of nodes a graph is made of.
//
//	planner    -> plan or answer        executor  -> runs steps of the plan
//	reflector  -> remaining plan or answer          finalizer -> answer from what the steps gave
//	tool, agent, transform, router, human: for graphs written out in a spec
//
// Each kind is one file: its Config (what a user writes) and its Run, which
// reads like the algorithm it is. What several kinds share has a file by its
// subject: turn (ask for a plan until it is usable), check (what a plan must
// be), answer (what an answer must be), render (prompts), step, react, guided.
//
// Between effects nothing here may look at a clock, chance or a map's order,
// start a goroutine, or take a lock: a resumed run runs the same code again.
package node
