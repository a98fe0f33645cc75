// Package testcase runs one test case of a spec.
//
//	Case + Unit --render--> prompts, parameters, tools            (without models)
//	            --play----> result, trajectory                    (answered by a cassette or script)
//	            --golden--> changes --checks--> marks --> Outcome: all problems, not only the first
//
// A run uses virtual time and has no side effects: a recording or script replies for
// models, tools that write work in a copy of the spec's folder, and the network is
// closed. A missing reply is reported once, with how to fix it, and its consequences are
// not.
//
// Only Record uses real models and tools: it runs a case live and records its cassette.
// The package must not know flags, terminals, providers or how models and tools are
// built; a Bench does that.
package testcase
