// Package testcase takes one test case of a spec from load to verdict.
//
//	Case + Unit --render--> prompts, parameters, tools            (nobody is called)
//	            --play----> result, trajectory                    (a cassette or a script answers)
//	            --golden--> changes --checks--> marks --> Outcome: all that is wrong, not only the first
//
// A run takes place in virtual time and touches nothing: models are answered by
// a recording or a script, tools that write work in a copy of the spec's folder,
// the network is closed. What an answer is missing for is told once, with the
// way out, and nothing is judged that follows from it.
//
// Record is the one door to the world: it runs a case live and keeps a cassette
// of it. The package must not know flags, terminals, providers or how models and
// tools are made: a Bench brings those.
package testcase
