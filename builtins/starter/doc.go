// Package starter makes a project to begin with: an agent that answers a
// question at once, without a key, and whose tests pass.
//
//	Suggest(folder) ------------> Answers that stand unless somebody says otherwise
//	Interview.Ask(Answers) -----> Answers, asked for at a terminal
//	Answers.Check --------------> what is wrong with them, or nil
//	Make(Answers) --------------> []File: spec, prompts, tests, suite, data
//	Place([]File, dir) ---------> files on disk, all of them or none
//
// The tools answer the question; the model is a script, which states a finding
// only where the tools' results hold it. Golden files are not made here: who
// makes a project renders its prompts.
//
// It must not know the language beyond its templates, any provider's code, or
// what a terminal is.
package starter
