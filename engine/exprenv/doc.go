// Package exprenv defines the values that expressions see: run, plan, step, tool,
// reply and trace in guards and checks, stats and case in gates. Their field tags are
// the source of the type checks, the completion and the reference of expressions.
package exprenv
