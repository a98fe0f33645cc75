package guard

import (
	"maps"
	"slices"
)

// allowed are the functions an expression may call: each gives the same for
// the same values, and takes time in proportion to them.
var allowed = map[string]bool{
	"all": true, "any": true, "none": true, "one": true, "filter": true, "map": true,
	"count": true, "sum": true, "find": true, "findIndex": true, "first": true, "last": true,
	"len": true, "min": true, "max": true, "mean": true, "median": true,
	"lower": true, "upper": true, "trim": true, "trimPrefix": true, "trimSuffix": true,
	"hasPrefix": true, "hasSuffix": true, "indexOf": true,
	"abs": true, "ceil": true, "floor": true, "round": true, "int": true, "float": true, "string": true,
}

// Functions lists the functions an expression may call, sorted.
func Functions() []string { return slices.Sorted(maps.Keys(allowed)) }

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

func functionHint(name string) string {
	if hint, ok := instead[name]; ok {
		return hint
	}
	return suggest(name, Functions())
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
	if allowed[name] {
		return "write " + name + "(value)"
	}
	if hint, ok := instead[name]; ok {
		return hint
	}
	return ""
}
