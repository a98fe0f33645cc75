// Package jsonvalue encodes, decodes and compares the JSON of runs.
//
//	Encode, Marshal   one line, no HTML escapes
//	Decode            numbers keep all digits (json.Number)
//	Plain             numbers are Go numbers, for expressions
//	Equal             compares by value: 1 and 1.0 are equal, key order is irrelevant
//
// The package must not know what the values mean.
package jsonvalue
