package lsp

import "strings"

// overrides are the places of tests and suites that set parts of the spec by
// their paths.
var overrides = []string{"set.?", "tests.*.set.?", "variants.?.set.?"}

// override finds the names in an entry of set: llms.main.cost, written as a key
// or as path=value, and what stands for an llm.
func (f *finder) override(n *node) {
	for _, pattern := range overrides {
		switch {
		case n.under(pattern):
			from := n.keyFrom
			if c := f.buffer.text.s[from]; c == '"' || c == '\'' {
				from++
			}
			f.path(n, from, n.key)
			if strings.HasSuffix(n.key, ".llm") && n.kind == scalar {
				f.add("llm", n.text, inner(n), inner(n)+len(n.text), false, n)
			}
		case n.kind == scalar && n.under(strings.TrimSuffix(pattern, "?")+"*"):
			path, value, _ := strings.Cut(n.text, "=")
			f.path(n, inner(n), path)
			if strings.HasSuffix(path, ".llm") {
				from := inner(n) + len(path) + 1
				f.add("llm", value, from, from+len(value), false, n)
			}
		}
	}
}

// path finds the name in the path of an override.
func (f *finder) path(n *node, at int, path string) {
	section, rest, _ := strings.Cut(path, ".")
	kind := sections[section]
	if kind == "" || rest == "" {
		return
	}
	name, tail := rest, ""
	if end := strings.IndexAny(rest, ".["); end >= 0 {
		name, tail = rest[:end], rest[end:]
	}
	from := at + len(section) + 1
	f.add(kind, name, from, from+len(name), false, n)
	if kind == "parameter" && name != "" {
		f.found[len(f.found)-1].tail = tail
	}
}
