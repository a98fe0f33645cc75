// Package scripted is a model whose replies are written down.
//
//	Config.Replies --New--> model (compiled once)
//	   ForRun(run)      --> script (the used-up replies of one run)
//	   Choose(request)  --> answer (the first reply left that matches; no more state)
//	   answer.Generate  --> *model.Reply or *model.Error
//
// It is for demos, tests and benchmarks and answers no question by itself.
// Choosing happens in the order in which the run issues its calls, so a
// resumed run that issues them again uses up the same replies again.
//
// It must not know where replies come from (the compiler reads files), any
// expression language (conditions come compiled), or the network.
package scripted
