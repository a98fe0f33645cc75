package main

import (
	"strconv"
	"strings"
)

// at returns the value at a dotted path of a JSON value: a.0.b; # is a length.
func at(v any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[part]
		case []any:
			i, err := strconv.Atoi(part)
			switch {
			case part == "#":
				v = len(x)
			case err != nil || i >= len(x):
				return nil
			default:
				v = x[i]
			}
		default:
			return nil
		}
	}
	return v
}
