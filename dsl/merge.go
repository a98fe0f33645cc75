package dsl

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/llm"
	"github.com/pexctl/pex/dsl/syntax"
)

// replacedKeys are keys whose values are replaced as a whole, not merged.
var replacedKeys = []string{"graph", "schema", "input_schema", "body", "request_body", "extends"}

// mergeSpecs merges a spec over another one: mappings key by key, guards by name,
// everything else as a whole. A null removes nothing. The result shares parts of
// both; neither is modified.
func mergeSpecs(path string, below, top *syntax.Node) *syntax.Node {
	if isEntryOf(path, "agents") {
		path = "" // a complete spec
	}
	switch {
	case top.Kind == syntax.Null:
		return below
	case path == "guards" && below.Kind == syntax.List && top.Kind == syntax.List:
		return byName(below, top)
	case below.Kind != syntax.Map || top.Kind != syntax.Map || replaces(path, below, top):
		return top
	}
	if isEntryOf(path, "llms") || slices.Contains(language.Roles, path) {
		below = llm.ForProvider(below, top)
	}
	out := &syntax.Node{Position: top.Position, Kind: syntax.Map}
	for _, e := range below.Entries {
		out.Entries = append(out.Entries, &syntax.Entry{Key: e.Key, Position: e.Position, Value: e.Value})
	}
	for _, e := range top.Entries {
		if was := out.Find(e.Key); was == nil {
			out.Entries = append(out.Entries, &syntax.Entry{Key: e.Key, Position: e.Position, Value: e.Value})
		} else if e.Value.Kind != syntax.Null {
			was.Position, was.Value = e.Position, mergeSpecs(config.Join(path, e.Key), was.Value, e.Value)
		}
	}
	return out
}

// replaces reports whether a mapping replaces another one as a whole: it has
// another type, or refers to a text.
func replaces(path string, below, top *syntax.Node) bool {
	named := slices.ContainsFunc([]string{"parameters", "llms", "tools"}, func(section string) bool { return isEntryOf(path, section) })
	if !named && slices.Contains(replacedKeys, path[strings.LastIndexByte(path, '.')+1:]) {
		return true
	}
	a, _ := config.Pointer(below)
	b, _ := config.Pointer(top)
	if isEntryOf(path, "prompts") || isPrompt(path) && a+b != "" {
		return true
	}
	return isEntryOf(path, "tools") && anotherType(below, top)
}

// isPrompt reports whether a key holds a template, by its name.
func isPrompt(path string) bool {
	key := path[strings.LastIndexByte(path, '.')+1:]
	return strings.Contains(key, "prompt") || strings.Contains(key, "template")
}

// anotherType reports whether a tool is another component than the one below it.
func anotherType(below, top *syntax.Node) bool {
	changed := func(key string) bool {
		return top.Get(key) != nil && syntax.TextOf(top, key) != syntax.TextOf(below, key)
	}
	return changed("type") || changed("use")
}

// isEntryOf reports whether a path is a name in a section: llms.main.
func isEntryOf(path, section string) bool {
	name, ok := strings.CutPrefix(path, section+".")
	return ok && name != "" && !strings.Contains(name, ".")
}

// byName merges two lists of named entries: an entry replaces one with the same
// name, others are appended.
func byName(below, top *syntax.Node) *syntax.Node {
	out := &syntax.Node{Position: top.Position, Kind: syntax.List, Items: slices.Clone(below.Items)}
	for _, it := range top.Items {
		name := syntax.TextOf(it, "name")
		i := slices.IndexFunc(out.Items, func(was *syntax.Node) bool { return name != "" && syntax.TextOf(was, "name") == name })
		if i >= 0 {
			out.Items[i] = it
		} else {
			out.Items = append(out.Items, it)
		}
	}
	return out
}
