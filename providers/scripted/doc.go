// Package scripted implements a model with predefined replies.
//
//	Config.Replies --New--> model (compiled once)
//	   ForRun(run)      --> script (the used replies of one run)
//	   Choose(request)  --> answer (the first unused reply that matches; stateless)
//	   answer.Generate  --> *model.Reply or *model.Error
//
// It is for demos, tests and benchmarks. Replies are chosen in the order of the run's
// calls, so a resumed run uses up the same replies again.
//
// The package must not know where replies come from (the compiler reads files), any
// expression language (conditions are compiled), or the network.
package scripted
