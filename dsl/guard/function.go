package guard

import (
	"maps"
	"slices"

	"github.com/pexctl/pex/dsl/diag"
)

// allowed are the functions an expression may call, with how they are called and
// what they give: each gives the same for the same values, and takes time in
// proportion to them.
var allowed = map[string]struct{ form, doc string }{
	"all":        {"all(list, condition)", "Whether the condition holds for every element; # or .field is the element."},
	"any":        {"any(list, condition)", "Whether the condition holds for an element; # or .field is the element."},
	"none":       {"none(list, condition)", "Whether the condition holds for no element."},
	"one":        {"one(list, condition)", "Whether the condition holds for exactly one element."},
	"filter":     {"filter(list, condition)", "The elements for which the condition holds."},
	"map":        {"map(list, expression)", "What the expression gives for each element."},
	"count":      {"count(list, condition)", "How many elements the condition holds for."},
	"sum":        {"sum(list)", "The sum of numbers; sum(list, expression) adds what the expression gives."},
	"find":       {"find(list, condition)", "The first element for which the condition holds, or nil."},
	"findIndex":  {"findIndex(list, condition)", "The index of the first element for which the condition holds, or nil."},
	"first":      {"first(list)", "The first element, or nil."},
	"last":       {"last(list)", "The last element, or nil."},
	"len":        {"len(value)", "How long a list, an object or a text is."},
	"min":        {"min(numbers)", "The smallest of numbers, or of a list of them."},
	"max":        {"max(numbers)", "The largest of numbers, or of a list of them."},
	"mean":       {"mean(numbers)", "The mean of numbers, or of a list of them."},
	"median":     {"median(numbers)", "The median of numbers, or of a list of them."},
	"lower":      {"lower(text)", "The text in lower case."},
	"upper":      {"upper(text)", "The text in upper case."},
	"trim":       {"trim(text)", "The text without blanks around it."},
	"trimPrefix": {"trimPrefix(text, prefix)", "The text without a prefix."},
	"trimSuffix": {"trimSuffix(text, suffix)", "The text without a suffix."},
	"hasPrefix":  {"hasPrefix(text, prefix)", "Whether the text begins with a prefix."},
	"hasSuffix":  {"hasSuffix(text, suffix)", "Whether the text ends with a suffix."},
	"indexOf":    {"indexOf(text, part)", "Where a part begins in the text, from 0; -1 = it is not in it."},
	"abs":        {"abs(number)", "The number without its sign."},
	"ceil":       {"ceil(number)", "The smallest integer that is not less."},
	"floor":      {"floor(number)", "The largest integer that is not greater."},
	"round":      {"round(number)", "The nearest integer."},
	"int":        {"int(value)", "The value as an integer."},
	"float":      {"float(value)", "The value as a number."},
	"string":     {"string(value)", "The value as text."},
}

// Functions lists the functions an expression may call, sorted.
func Functions() []string { return slices.Sorted(maps.Keys(allowed)) }

// Function is a function as documented for people; its type is how it is called.
// ok is false when there is none of the name that an expression may call.
func Function(name string) (m Member, ok bool) {
	f, ok := allowed[name]
	return Member{Name: name, Type: f.form, Doc: f.doc}, ok
}

// instead says what to write for a function that is not allowed.
var instead = map[string]string{
	"now": "there is no clock: use run.elapsed", "date": "there is no clock: use run.elapsed", "duration": "times are numbers of seconds: run.elapsed > 60",
	"keys": "an object has no order; test a key with: \"name\" in object", "values": "an object has no order", "toPairs": "an object has no order",
	"get":    "write object.name, or object?.name where it may be missing",
	"reduce": "use sum, count, min, max, any or all", "groupBy": "use filter and count", "sortBy": "use min or max", "sort": "use min or max",
	"findLast": "use find, or last(filter(...))", "findLastIndex": "use findIndex", "split": "use contains, startsWith, endsWith or matches",
	"replace": "use contains or matches", "repeat": "text cannot be repeated", "fromJSON": "a step's parsed result is step.output",
	"join": "test the parts: any(list, # contains \"x\")", "toJSON": "test the value itself",
	"has": "write name in object", "contains": "write text contains \"x\"", "includes": "write \"x\" in list, or text contains \"x\"",
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
		return `write text contains "x", or "x" in list`
	case "startsWith", "endsWith", "matches":
		return "write text " + name + ` "x"`
	case "toLowerCase", "toUpperCase":
		return "write lower(text) or upper(text)"
	}
	if _, ok := allowed[name]; ok {
		return "write " + name + "(value)"
	}
	return instead[name]
}
