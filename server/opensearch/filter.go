package opensearch

import (
	"path"
	"strings"
)

// filterPath returns the parts of a decoded JSON value that patterns select: names separated by
// dots, with * within a name and ** for any number of names. Those that begin with - exclude.
func filterPath(v any, patterns []string) any {
	var include, exclude [][]string
	for _, p := range patterns {
		if rest, isExcluded := strings.CutPrefix(strings.TrimSpace(p), "-"); isExcluded {
			exclude = append(exclude, strings.Split(rest, "."))
		} else if rest != "" {
			include = append(include, strings.Split(rest, "."))
		}
	}
	if len(include) > 0 {
		v = selected(v, include)
	}
	if v = without(v, exclude); v == nil {
		return object{}
	}
	return v
}

// step returns the patterns for what is below a name, each once, and whether one ends there.
func step(patterns [][]string, name string) (next [][]string, ends bool) {
	seen := map[*string]bool{} // by the first name, which the ends of one pattern share
	add := func(p []string) {
		if !seen[&p[0]] {
			seen[&p[0]] = true
			next = append(next, p)
		}
	}
	for _, p := range patterns {
		if p[0] == "**" {
			add(p)
			if len(p) == 1 {
				return next, true
			}
			p = p[1:]
		}
		if ok, err := path.Match(p[0], name); !ok || err != nil {
			continue
		}
		if len(p) == 1 {
			return next, true
		}
		add(p[1:])
	}
	return next, false
}

// selected returns what patterns select, or nil.
func selected(v any, patterns [][]string) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, each := range v {
			next, ends := step(patterns, name)
			if !ends && len(next) > 0 {
				each = selected(each, next)
			}
			if (ends || len(next) > 0) && each != nil {
				out[name] = each
			}
		}
		if len(out) > 0 {
			return out
		}
	case []any:
		var out []any
		for _, each := range v {
			if each = selected(each, patterns); each != nil {
				out = append(out, each)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// without returns a value without what patterns select.
func without(v any, patterns [][]string) any {
	if len(patterns) == 0 {
		return v
	}
	switch v := v.(type) {
	case object:
		out := object{}
		for name, each := range v {
			if next, ends := step(patterns, name); !ends {
				out[name] = without(each, next)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, each := range v {
			out[i] = without(each, patterns)
		}
		return out
	}
	return v
}
