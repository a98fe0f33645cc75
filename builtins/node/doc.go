// Package node holds the kinds of nodes a graph is made of.
//
//	planner    -> plan or answer        executor  -> runs steps of the plan
//	reflector  -> remaining plan or answer          finalizer -> answer from what the steps gave
//	tool, agent, transform, router, human: for graphs written out in a spec
//
// Each kind is one file: its Config (what a user writes) and its Run, which
// reads like the algorithm it is. What several kinds share has a file or a
// package by its subject: turn (ask for a plan until it is usable), prompts and
// values (the texts, and what fills them), cost (the most that a node asks of
// models); planning (what a plan must be), answer (what an answer must be),
// render (state as text), compact (shorter conversations), reply (what models
// write).
//
// The executor is more than a page: batch hands out steps, step tries one, and a
// try is a loop of calls (native or react, by protocol), guided, or an agent.
//
// Between effects nothing here may look at a clock, chance or a map's order,
// start a goroutine, or take a lock: a resumed run runs the same code again.
package node
