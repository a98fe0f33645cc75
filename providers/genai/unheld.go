package genai

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/orderedjson"
)

var _ model.SchemaHolder = (*Config)(nil)

// UnenforcedKeywords implements model.SchemaHolder. What a server at another address does
// with a schema is not known.
func (c *Config) UnenforcedKeywords(s model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != "json_schema" || s.BaseURL != "" || !json.Valid(schema) {
		return nil
	}
	return unheld(schema)
}

// unheld is what of a schema says what a value is and cannot be said to the API:
// keywords that portable leaves out, and references by which a value needs
// another of its kind. What only bounds a value is left out too, and is not told
// here, since the caller validates in any case.
//
// The rules: ai.google.dev/api/generate-content, GenerationConfig, under
// responseJsonSchema.
func unheld(schema json.RawMessage) component.Faults {
	l := &lookout{root: schema}
	l.value(schema, "", maxNesting)
	l.required(schema, "", []string{"#"})
	top, _ := orderedjson.Parse(schema)
	for _, key := range []string{"$defs", "definitions"} {
		defs, _ := orderedjson.Parse(top.Get(key))
		for _, d := range defs {
			at := "/" + key + component.Key(d.Name)
			l.required(d.Value, at, []string{"#" + at})
		}
	}
	return l.found
}

// maxVisits bounds the walk: references may make a short schema a long one.
const maxVisits = 10_000

// lookout collects what cannot be said.
type lookout struct {
	root   json.RawMessage
	visits int
	found  component.Faults
}

func (l *lookout) add(at, message, hint string) {
	if f := (component.Fault{At: at, Message: message, Hint: hint}); !slices.Contains(l.found, f) {
		l.found = append(l.found, f)
	}
}

// value looks at the keywords of a schema and of those in it.
func (l *lookout) value(raw json.RawMessage, at string, depth int) {
	fields, _ := orderedjson.Parse(raw)
	if depth == 0 {
		return
	}
	for _, m := range fields {
		at := at + "/" + m.Name
		switch m.Name {
		case "patternProperties", "$dynamicRef":
			l.unknown(at, m.Name)
		case "allOf":
			if list := listOf(m.Value); len(list) == 1 {
				l.value(list[0], at+"/0", depth-1)
			} else {
				l.unknown(at, m.Name)
			}
		case "const":
			if _, ok := keyword(m, depth); !ok {
				l.add(at, "const must be a string or a number", "write type: boolean or null, and check the value with output.ensures")
			}
		case "$ref":
			if !strings.HasPrefix(textOf(m.Value), "#") {
				l.add(at, "the reference is outside the schema", "define it under $defs")
			}
		case "properties", "$defs", "definitions":
			inner, _ := orderedjson.Parse(m.Value)
			for _, p := range inner {
				l.value(p.Value, at+component.Key(p.Name), depth-1)
			}
		case "items", "prefixItems", "anyOf", "oneOf", "additionalProperties":
			l.value(m.Value, at, depth-1)
			for i, v := range listOf(m.Value) {
				l.value(v, at+"/"+strconv.Itoa(i), depth-1)
			}
		}
	}
}

func (l *lookout) unknown(at, word string) {
	l.add(at, word+" is not supported", "replace it by supported keywords, or remove it and check it with output.ensures")
}

// required follows what every value of a schema has, back to a schema it is
// within: such a value never ends.
func (l *lookout) required(raw json.RawMessage, at string, within []string) {
	fields, _ := orderedjson.Parse(raw)
	if l.visits++; l.visits > maxVisits {
		return
	}
	if ref := textOf(fields.Get("$ref")); ref != "" {
		l.follow(ref, at+"/$ref", within)
		return
	}
	var names []string
	_ = json.Unmarshal(fields.Get("required"), &names) // of another kind: none is
	properties, _ := orderedjson.Parse(fields.Get("properties"))
	for _, p := range properties {
		if slices.Contains(names, p.Name) {
			l.required(p.Value, at+"/properties"+component.Key(p.Name), within)
		}
	}
	for _, key := range []string{"items", "prefixItems", "anyOf", "oneOf", "allOf"} {
		v := fields.Get(key)
		if v == nil {
			continue
		}
		l.required(v, at+"/"+key, within)
		for i, inner := range listOf(v) {
			l.required(inner, at+"/"+key+"/"+strconv.Itoa(i), within)
		}
	}
}

// follow goes where a reference within the schema leads.
func (l *lookout) follow(ref, at string, within []string) {
	if slices.Contains(within, ref) {
		l.add(at, "a recursive schema is allowed only in an optional property", "remove the property from required")
		return
	}
	if !strings.HasPrefix(ref, "#/") {
		return
	}
	to := l.root
	for key := range strings.SplitSeq(ref[2:], "/") {
		fields, _ := orderedjson.Parse(to)
		if to = fields.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(key)); to == nil {
			return
		}
	}
	l.required(to, ref[1:], append(slices.Clone(within), ref))
}

func listOf(raw json.RawMessage) (list []json.RawMessage) {
	if json.Unmarshal(raw, &list) != nil { // it is none
		return nil
	}
	return list
}

func textOf(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) != nil { // it is none
		return ""
	}
	return text
}
