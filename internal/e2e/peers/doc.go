// Command peers compares pexctl with another agent library on the same work, in one
// process: a plan of k steps, each with two executor calls, one tool call and one review.
//
//	pexctl  spec.yaml, compiled and run as pexctl run does, without a journal
//	eino    plan-execute of github.com/cloudwego/eino: planner, executor, replanner
//	floor   a loop over the same calls with encoding/json: the least that the work costs
//
// The model is fake, has no latency, and decides by what the prompt contains. Each peer
// uses its own prompts. A run that makes another number of model or tool calls than the
// others is an error.
//
// langchaingo is not a peer: its agent executor is a single loop of tool calls, without a
// plan and without reviews, so it cannot make these calls.
//
// All peers run with the garbage collector settings of pexctl, because they share the
// process.
//
// The peers take turns in each round. The output is in the format of Go benchmarks, for
// benchstat, followed by tables. Run it with make bench-peers.
//
// It is a module of its own, so that eino is no dependency of pex.
package main
