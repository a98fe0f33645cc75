// Package guard compiles expressions (DESIGN section 4). It is the only door
// to the expr library.
//
//	Place("after_step", parameters) --> Env
//	Compile(source, Env) --> *Guard, or a *Problem with its position
//	Guard.Eval(values) --> true, false, or an error
//
// An expression is checked twice: against the declared types, so that a name or
// a comparison that cannot be right is an error where it is written, and then
// compiled with what comes from JSON left untyped, so that 3 and 3.0 are alike.
//
// No expression can hurt its host. Source, nesting and nodes are capped before
// the library sees them; functions are an allow-list without clock, chance,
// output or an order that depends on a map; and what could multiply (loops in
// loops, strings added to strings) draws on a budget of each evaluation.
//
// Arithmetic evaluates the calculator's expressions, which are plain numbers.
//
// It must not know YAML, files, or what a guard does when it fires.
package guard
