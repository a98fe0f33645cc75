package openai

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

var _ model.SchemaHolder = (*OllamaConfig)(nil)

// UnenforcedKeywords implements model.SchemaHolder.
func (c *OllamaConfig) UnenforcedKeywords(_ model.Settings, schema json.RawMessage) component.Faults {
	var root any
	if c.StructuredOutput != nativeSchema || json.Unmarshal(schema, &root) != nil {
		return nil
	}
	g := &grammarCheck{root: root, visited: map[string]bool{}}
	g.value("", root)
	return g.faults
}

// grammarCheck visits a schema in the way that Ollama converts it to a grammar, and
// collects what the server rejects; every call with it would fail. Keywords that the
// grammar only ignores are not reported.
//
// The rules are those of llama/llama.cpp/common/json-schema-to-grammar.cpp in
// github.com/ollama/ollama, where SchemaConverter appends to _errors.
type grammarCheck struct {
	strictCheck
	root    any
	visited map[string]bool // references
}

func (g *grammarCheck) value(at string, v any) {
	s, ok := v.(map[string]any)
	if !ok {
		g.unknown(at)
		return
	}
	if ref, ok := s["$ref"].(string); ok {
		g.follow(at+"/$ref", ref)
		return
	}
	for _, word := range []string{"oneOf", "anyOf"} { // in the server's order
		if list, ok := s[word].([]any); ok {
			g.list(at+"/"+word, list)
			return
		}
	}
	types, _ := s["type"].([]any)
	if one, ok := s["type"]; ok && types == nil {
		types = []any{one}
	}
	if types == nil {
		types = []any{nil}
	}
	for _, t := range types {
		g.typed(at, s, t)
	}
}

// typed checks a schema for one of its types; t is nil if it has none.
func (g *grammarCheck) typed(at string, s map[string]any, t any) {
	has := func(word string) bool { _, ok := s[word]; return ok }
	free := func(want string) bool { return t == nil || t == want }
	word := "items"
	if !has(word) {
		word = "prefixItems"
	}
	switch {
	case has("const"), has("enum"):
	case free("object") && (has("properties") || has("additionalProperties") && s["additionalProperties"] != true):
		g.object(at, s)
	case (free("object") || t == "string") && has("allOf"):
	case free("array") && has(word):
		if list, ok := s[word].([]any); ok {
			g.list(at+"/"+word, list)
			return
		}
		g.value(at+"/"+word, s[word])
	case free("string") && has("pattern"):
		if p, _ := s["pattern"].(string); !strings.HasPrefix(p, "^") || !strings.HasSuffix(p, "$") {
			g.refuse(at+"/pattern", "a pattern that does not match the whole text", "start it with ^ and end it with $")
		}
	case t == nil && len(s) > 0 && !known(s["format"]):
		g.unknown(at)
	}
}

// known reports whether a format implies a type.
func known(format any) bool {
	return slices.Contains([]any{"uuid", "uuid1", "uuid2", "uuid3", "uuid4", "uuid5", "date", "time", "date-time"}, format)
}

func (g *grammarCheck) object(at string, s map[string]any) {
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		g.value(at+"/properties"+component.Key(name), properties[name])
	}
	if extra, ok := s["additionalProperties"].(map[string]any); ok {
		g.value(at+"/additionalProperties", extra)
	}
}

func (g *grammarCheck) list(at string, list []any) {
	for i, v := range list {
		g.value(at+"/"+strconv.Itoa(i), v)
	}
}

// follow checks the target of a reference once.
func (g *grammarCheck) follow(at, ref string) {
	if !strings.HasPrefix(ref, "#/") {
		g.refuse(at, "a reference out of the schema", "define it under $defs")
		return
	}
	if g.visited[ref] {
		return
	}
	g.visited[ref] = true
	to := g.root
	for key := range strings.SplitSeq(ref[len("#/"):], "/") {
		s, _ := to.(map[string]any)
		if to = s[key]; to == nil {
			return // an element of a list, or missing
		}
	}
	g.value(ref[len("#"):], to)
}

func (g *grammarCheck) unknown(at string) {
	g.refuse(at, "a schema without a type", "add a type")
}

func (g *grammarCheck) refuse(at, what, hint string) {
	g.add(at, "the server rejects the call because of "+what, hint)
}
