// Package guard compiles and evaluates expressions. It is the only package that
// imports the expr library, which parses and type-checks them.
//
//	Place("after_step", parameters) --> Env
//	Compile(source, Env) --> *Guard, or a *Problem with its position
//	Guard.Eval(values) --> true, false, or an error: undecided
//
// The package has its own evaluator. Numbers are exact: JSON numbers keep all
// digits, and sums, products and quotients are fractions. Arguments of tool calls
// come from a model, so an operation with a value of the wrong kind fails: a
// missing value never decides a condition that protects something.
//
// Expressions cannot harm the host. Source, nesting and nodes are limited before
// the library parses them. Functions are an allow-list without clock, randomness,
// output or map order. Operations that could multiply work (nested loops, joined
// texts) are charged to a budget per evaluation.
//
// Subpackages: exact has the numbers, interval evaluates expressions on ranges
// for static checks, complete serves editors, arithmetic is the calculator.
//
// The package must not know YAML, files, or what a guard does when it fires.
package guard
