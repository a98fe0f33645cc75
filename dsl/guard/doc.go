// Package guard compiles and evaluates expressions. It is the only package that
// imports the expr library, which parses and type-checks them.
//
//	Place("after_step", parameters) --> Env
//	Compile(source, Env) --> *Guard, or a *Problem with its position
//	Guard.Eval(values) --> true, false, or an error: undecided
//
// The evaluation is our own. Numbers are exact: the digits of JSON count, and
// sums, products and quotients are fractions. Arguments of tool calls are given
// by a model, so an operation that wants another value than it gets fails: a
// condition that protects is never decided by what is missing.
//
// No expression can hurt its host. Source, nesting and nodes are capped before
// the library sees them; functions are an allow-list without clock, chance,
// output or an order that depends on a map; and what could multiply (loops in
// loops, texts joined to texts) draws on a budget of each evaluation.
//
// Below it: exact holds the numbers, interval evaluates expressions on ranges
// for static checks, complete serves editors, arithmetic is the calculator.
//
// The package must not know YAML, files, or what a guard does when it fires.
package guard
