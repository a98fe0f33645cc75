// Package scaffold creates agent projects: an agent that answers its first question without an API key, with tests and an
// evaluation suite that pass.
//
//	Suggest(folder) ------------> default Answers
//	Interview.Ask(Answers) -----> Answers, asked for at a terminal
//	Answers.Check --------------> an error for the first invalid answer, or nil
//	Generate(Answers) ----------> []File: spec, prompts, tests, suite, data
//	Write(dir, []File) ---------> files on disk: all of them or none
//
// The tools of a generated project are real; its model is scripted, and states a finding only if a tool result contains it.
// Golden files are not generated here: the caller renders the prompts.
//
// The package knows the language only through its templates. It knows no provider's code and no terminal.
package scaffold
