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

// UnenforcedKeywords implements model.SchemaHolder. It returns nil for servers at another address, whose support of
// schemas is unknown.
func (c *Config) UnenforcedKeywords(s model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != "json_schema" || s.BaseURL != "" || !json.Valid(schema) {
		return nil
	}
	return unenforced(schema)
}

// unenforced returns the parts of a schema that define a value but cannot be expressed in the API: keywords that
// portable drops, and required recursive references. Dropped constraints are not reported, since the caller validates
// the reply anyway.
//
// Source of the rules: ai.google.dev/api/generate-content, GenerationConfig, responseJsonSchema.
func unenforced(schema json.RawMessage) component.Faults {
	l := &checker{root: schema}
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
	return l.faults
}

// maxVisits limits the schemas visited: references can expand a short schema.
const maxVisits = 10_000

// checker collects the faults.
type checker struct {
	root   json.RawMessage
	visits int
	faults component.Faults
}

func (l *checker) add(at, message, hint string) {
	if f := (component.Fault{At: at, Message: message, Hint: hint}); !slices.Contains(l.faults, f) {
		l.faults = append(l.faults, f)
	}
}

// value checks the keywords of a schema and of its subschemas.
func (l *checker) value(raw json.RawMessage, at string, depth int) {
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

func (l *checker) unknown(at, word string) {
	l.add(at, word+" is not supported", "replace it by supported keywords, or remove it and check it with output.ensures")
}

// required follows the required parts of a schema. A path back to an enclosing schema means that values are infinite.
func (l *checker) required(raw json.RawMessage, at string, within []string) {
	fields, _ := orderedjson.Parse(raw)
	if l.visits++; l.visits > maxVisits {
		return
	}
	if ref := textOf(fields.Get("$ref")); ref != "" {
		l.follow(ref, at+"/$ref", within)
		return
	}
	var names []string
	_ = json.Unmarshal(fields.Get("required"), &names) // invalid: nothing is required
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

// follow checks the target of a reference within the schema.
func (l *checker) follow(ref, at string, within []string) {
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
	if json.Unmarshal(raw, &list) != nil { // not a list
		return nil
	}
	return list
}

func textOf(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) != nil { // not a string
		return ""
	}
	return text
}
