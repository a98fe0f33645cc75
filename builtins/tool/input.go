package tool

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
)

// source is a setting that may reference arguments.
type source struct {
	at    string // JSON pointer of the setting
	text  string // text as written
	visit func(component.Lookup)
}

// sources returns the templates of a mapping, sorted by name.
func sources(at string, m map[string]component.Template) []source {
	var out []source
	for _, name := range slices.Sorted(maps.Keys(m)) {
		t := m[name]
		out = append(out, source{at: at + component.Key(name), text: t.Text, visit: t.Visit})
	}
	return out
}

// arguments returns the names of the arguments that a setting references, in order.
func (s source) arguments() []string {
	var out []string
	for _, name := range references(s.visit) {
		if at := strings.IndexAny(name, ".["); at >= 0 {
			name = name[:at]
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

var withDefault = text.Regexp(`[{<]\s*args\s*\.\s*([\w-]+)[^}>]*?:-`)

// optional returns the arguments for which a setting has a default.
func (s source) optional() []string {
	var out []string
	for _, m := range withDefault().FindAllStringSubmatch(s.text, -1) {
		out = append(out, m[1])
	}
	return out
}

// inputSchema returns the input schema of a tool whose author declares none: a string for
// each argument that its settings reference.
func inputSchema(all []source) string {
	properties, required := map[string]any{}, []string{}
	for _, s := range all {
		optional := s.optional()
		for _, name := range s.arguments() {
			if properties[name] != nil {
				continue
			}
			properties[name] = map[string]string{"type": "string", "description": "Used in: " + clip(s.text)}
			if !slices.Contains(optional, name) {
				required = append(required, name)
			}
		}
	}
	// Maps and lists of strings always marshal.
	out, _ := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
	return string(out)
}

func clip(s string) string {
	return text.Clip(s, maxLineText)
}
