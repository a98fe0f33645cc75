// Package value compares and shows JSON values, whichever Go types they have.
//
//	Equal   objects whatever the order of their keys, numbers by what they are worth
//	Number  a number exactly, also one that no float64 holds
//	Text    how a value reads: a text as it is, anything else as compact JSON
//
// Values come from datasets, specs, models and tools: decoded with or without
// json.Number, or built in Go. The package must not know checks, runs or specs.
package value
