// Package jsonpath selects values with RFC 9535 JSONPath.
//
//	Compile(source) --> *Path, or a *Problem with its offset
//	Path.Select(value) --> the selected values, in a fixed order
//
// Values have the types of a JSON decoder: map[string]any, []any, string, bool,
// nil, and numbers as float64, int or json.Number. Members of an object are
// visited in the order of their sorted names, so the same value always has the
// same result. The number of visited values is limited.
//
// The package implements the RFC itself: none of the available libraries passed
// more than half of the RFC's compliance suite, and some panic.
//
// It must not know YAML, files, or what a selection is for.
package jsonpath
