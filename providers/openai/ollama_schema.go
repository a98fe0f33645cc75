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

// UnenforcedKeywords implements model.SchemaHolder, wherever the server is.
func (c *OllamaConfig) UnenforcedKeywords(_ model.Settings, schema json.RawMessage) component.Faults {
	var root any
	if c.StructuredOutput != "json_schema" || json.Unmarshal(schema, &root) != nil {
		return nil
	}
	g := &grammar{root: root, followed: map[string]bool{}}
	g.value("", root)
	return g.found
}

// grammar goes over a schema as Ollama does that writes a grammar of it, and
// collects what it refuses: with that, each call fails. What the grammar only
// leaves out is not told.
//
// The rules: github.com/ollama/ollama, llama/llama.cpp/common/json-schema-to-grammar.cpp,
// where SchemaConverter appends to _errors.
type grammar struct {
	lookout
	root     any
	followed map[string]bool
}

func (g *grammar) value(at string, v any) {
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

// typed looks at a schema of one type, nil = of none.
func (g *grammar) typed(at string, s map[string]any, t any) {
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

// known says whether a format stands for a type.
func known(format any) bool {
	return slices.Contains([]any{"uuid", "uuid1", "uuid2", "uuid3", "uuid4", "uuid5", "date", "time", "date-time"}, format)
}

func (g *grammar) object(at string, s map[string]any) {
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		g.value(at+"/properties"+component.Key(name), properties[name])
	}
	if extra, ok := s["additionalProperties"].(map[string]any); ok {
		g.value(at+"/additionalProperties", extra)
	}
}

func (g *grammar) list(at string, list []any) {
	for i, v := range list {
		g.value(at+"/"+strconv.Itoa(i), v)
	}
}

// follow goes where a reference leads, once.
func (g *grammar) follow(at, ref string) {
	if !strings.HasPrefix(ref, "#/") {
		g.refuse(at, "a reference out of the schema", "define it under $defs")
		return
	}
	if g.followed[ref] {
		return
	}
	g.followed[ref] = true
	to := g.root
	for key := range strings.SplitSeq(ref[len("#/"):], "/") {
		s, _ := to.(map[string]any)
		if to = s[key]; to == nil {
			return // into a list, or nowhere
		}
	}
	g.value(ref[len("#"):], to)
}

func (g *grammar) unknown(at string) {
	g.refuse(at, "a schema without a type", "add a type")
}

func (g *grammar) refuse(at, what, hint string) {
	g.add(at, "the server rejects the call because of "+what, hint)
}
