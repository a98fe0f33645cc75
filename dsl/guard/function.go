package guard

import (
	"maps"
	"slices"

	"github.com/pexctl/pex/dsl/diag"
)

// allowed are the functions that an expression may call, with their signature and
// documentation. Each is deterministic and takes time proportional to its
// arguments.
var allowed = map[string]struct{ form, doc string }{
	"all":        {"all(list, condition)", "Whether the condition is true for every element. # is the element, .field a field of it."},
	"any":        {"any(list, condition)", "Whether the condition is true for any element. # is the element, .field a field of it."},
	"none":       {"none(list, condition)", "Whether the condition is true for no element."},
	"one":        {"one(list, condition)", "Whether the condition is true for exactly one element."},
	"filter":     {"filter(list, condition)", "The elements for which the condition is true."},
	"map":        {"map(list, expression)", "The value of the expression for each element."},
	"count":      {"count(list, condition)", "The number of elements for which the condition is true."},
	"sum":        {"sum(list)", "The sum of the numbers; sum(list, expression) adds the values of the expression."},
	"find":       {"find(list, condition)", "The first element for which the condition is true, or nil."},
	"findIndex":  {"findIndex(list, condition)", "The index of the first element for which the condition is true, or nil."},
	"first":      {"first(list)", "The first element, or nil."},
	"last":       {"last(list)", "The last element, or nil."},
	"len":        {"len(value)", "The length of a list, an object or a string."},
	"min":        {"min(numbers)", "The smallest of the numbers or of a list of numbers."},
	"max":        {"max(numbers)", "The largest of the numbers or of a list of numbers."},
	"mean":       {"mean(numbers)", "The mean of the numbers or of a list of numbers."},
	"median":     {"median(numbers)", "The median of the numbers or of a list of numbers."},
	"lower":      {"lower(string)", "The string in lower case."},
	"upper":      {"upper(string)", "The string in upper case."},
	"trim":       {"trim(string)", "The string without leading and trailing spaces."},
	"trimPrefix": {"trimPrefix(string, prefix)", "The string without the prefix."},
	"trimSuffix": {"trimSuffix(string, suffix)", "The string without the suffix."},
	"hasPrefix":  {"hasPrefix(string, prefix)", "Whether the string starts with the prefix."},
	"hasSuffix":  {"hasSuffix(string, suffix)", "Whether the string ends with the suffix."},
	"indexOf":    {"indexOf(string, part)", "The index of the substring in the string, from 0; -1 if it is not found."},
	"abs":        {"abs(number)", "The absolute value."},
	"ceil":       {"ceil(number)", "The smallest integer that is not less."},
	"floor":      {"floor(number)", "The largest integer that is not greater."},
	"round":      {"round(number)", "The nearest integer."},
	"int":        {"int(value)", "The value as an integer."},
	"float":      {"float(value)", "The value as a number."},
	"string":     {"string(value)", "The value as a string."},
}

// Functions returns the functions that an expression may call, sorted.
func Functions() []string { return slices.Sorted(maps.Keys(allowed)) }

// Function returns the documentation of a function; its type is the signature. ok
// is false if expressions cannot call a function with this name.
func Function(name string) (m Member, ok bool) {
	f, ok := allowed[name]
	return Member{Name: name, Type: f.form, Doc: f.doc}, ok
}

// instead maps functions that are not allowed to their replacement.
var instead = map[string]string{
	"now": "expressions have no clock; use run.elapsed", "date": "expressions have no clock; use run.elapsed", "duration": "times are in seconds: run.elapsed > 60",
	"keys": "objects have no order; test a key with: \"name\" in object", "values": "objects have no order", "toPairs": "objects have no order",
	"get":    "write object.name, or object?.name if it may be missing",
	"reduce": "use sum, count, min, max, any or all", "groupBy": "use filter and count", "sortBy": "use min or max", "sort": "use min or max",
	"findLast": "use find, or last(filter(...))", "findLastIndex": "use findIndex", "split": "use contains, startsWith, endsWith or matches",
	"replace": "use contains or matches", "repeat": "strings cannot be repeated", "fromJSON": "use step.output for the parsed result of a step",
	"join": "test the elements: any(list, # contains \"x\")", "toJSON": "test the value itself",
	"has": "write name in object", "contains": "write string contains \"x\"", "includes": "write \"x\" in list, or string contains \"x\"",
	"length": "write len(x)", "size": "write len(x)", "exists": "compare with nil: x != nil", "defined": "compare with nil: x != nil",
	"not": "write not x, or !x", "bool": "compare: x == true",
}

func functionAdvice(name string) diag.Advice {
	if hint, ok := instead[name]; ok {
		return diag.Advice{Hint: hint}
	}
	return Suggest(name, Functions())
}

func methodHint(name string) string {
	switch name {
	case "contains", "includes":
		return `write string contains "x", or "x" in list`
	case "startsWith", "endsWith", "matches":
		return "write string " + name + ` "x"`
	case "toLowerCase", "toUpperCase":
		return "write lower(string) or upper(string)"
	}
	if _, ok := allowed[name]; ok {
		return "write " + name + "(value)"
	}
	return instead[name]
}
