// Package arithmetic evaluates the calculator's expressions: numbers, operators
// and a few functions, without names.
//
//	source --recursive descent--> exact numbers --> text
//
// The package must not know the expressions of guards.
package arithmetic
