// Package exprenv defines the variables of expressions: run, plan, step, tool, reply and
// trace in guards and checks, stats and case in gates. Their field tags are the source of
// type checks, completion and reference.
package exprenv
