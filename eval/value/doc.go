// Package value compares and formats JSON values of any Go types.
//
//	Equal   ignores the order of keys; compares numbers by value
//	Number  an exact number, also beyond float64
//	Text    a string as it is, anything else as compact JSON
//
// Values come from datasets, specs, models and tools: decoded with or without
// json.Number, or built in Go. The package must not know checks, runs or specs.
package value
