package dsl

import (
	"slices"
	"strings"
)

// wholes are keys whose values make sense only as one: what lies over them
// takes their place.
var wholes = []string{"graph", "schema", "input_schema", "body", "request_body", "extends"}

// merged is what a spec says with another one's parts below: mappings key by
// key, guards by name, everything else as a whole. A null takes nothing away.
// Parts of both are in it; neither is changed.
func merged(path string, below, top *value) *value {
	if isEntryOf(path, "agents") {
		path = "" // it is a spec of its own
	}
	switch {
	case top.kind == null:
		return below
	case path == "guards" && below.kind == list && top.kind == list:
		return byName(below, top)
	case below.kind != dict || top.kind != dict || replaces(path, below, top):
		return top
	}
	if isEntryOf(path, "llms") || slices.Contains(roles, path) {
		below = ofOneProvider(below, top)
	}
	out := &value{place: top.place, kind: dict}
	for _, e := range below.entries {
		out.entries = append(out.entries, &entry{e.key, e.place, e.val})
	}
	for _, e := range top.entries {
		if was := out.find(e.key); was == nil {
			out.entries = append(out.entries, &entry{e.key, e.place, e.val})
		} else if e.val.kind != null {
			was.place, was.val = e.place, merged(join(path, e.key), was.val, e.val)
		}
	}
	return out
}

// replaces says whether a mapping takes another one's place as a whole: it is
// of another type, or points to a text.
func replaces(path string, below, top *value) bool {
	named := slices.ContainsFunc([]string{"parameters", "llms", "tools"}, func(section string) bool { return isEntryOf(path, section) })
	if !named && slices.Contains(wholes, path[strings.LastIndexByte(path, '.')+1:]) {
		return true
	}
	a, _ := pointer(below)
	b, _ := pointer(top)
	if isEntryOf(path, "prompts") || isPrompt(path) && a+b != "" {
		return true
	}
	return isEntryOf(path, "tools") && anotherType(below, top)
}

// isPrompt says that a key holds a template, by the names that templates have.
func isPrompt(path string) bool {
	key := path[strings.LastIndexByte(path, '.')+1:]
	return strings.Contains(key, "prompt") || strings.Contains(key, "template")
}

// anotherType says that a tool is another component than the one below it.
func anotherType(below, top *value) bool {
	changed := func(key string) bool { return top.get(key) != nil && textAt(top, key) != textAt(below, key) }
	return changed("type") || changed("use")
}

// isEntryOf says that a path is a name in a section: llms.main.
func isEntryOf(path, section string) bool {
	name, ok := strings.CutPrefix(path, section+".")
	return ok && name != "" && !strings.Contains(name, ".")
}

// byName lays one list of named entries over another: one of the same name
// takes its place, others follow.
func byName(below, top *value) *value {
	out := &value{place: top.place, kind: list, items: slices.Clone(below.items)}
	for _, it := range top.items {
		name := textAt(it, "name")
		i := slices.IndexFunc(out.items, func(was *value) bool { return name != "" && textAt(was, "name") == name })
		if i >= 0 {
			out.items[i] = it
		} else {
			out.items = append(out.items, it)
		}
	}
	return out
}

// clone is a copy that shares nothing: compiling a tree changes it.
func (v *value) clone() *value {
	out := *v
	out.items, out.entries = make([]*value, len(v.items)), make([]*entry, len(v.entries))
	for i, it := range v.items {
		out.items[i] = it.clone()
	}
	for i, e := range v.entries {
		out.entries[i] = &entry{e.key, e.place, e.val.clone()}
	}
	return &out
}
