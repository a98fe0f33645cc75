// Package jsonpath selects values by RFC 9535 JSONPath.
//
//	Compile(source) --> *Path, or a *Problem with its offset
//	Path.Select(value) --> the selected values, in one order
//
// Values are what a JSON decoder gives: map[string]any, []any, string, bool,
// nil, and numbers as float64, int or json.Number. An object's members are
// visited in the order of their sorted names, so the same value always gives
// the same list. What a path may visit is bounded.
//
// It is written against the RFC and needs no library: of those to be had, none
// passed more than half of the RFC's compliance suite, and some panic.
//
// It must not know YAML, files, or what a selection is for.
package jsonpath
