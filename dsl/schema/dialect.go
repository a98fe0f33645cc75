package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// dialects are the supported drafts, by $schema without its scheme and fragment.
var dialects = map[string]*jsonschema.Draft{
	"json-schema.org/draft/2020-12/schema": jsonschema.Draft2020,
	"json-schema.org/draft/2019-09/schema": jsonschema.Draft2019,
	"json-schema.org/draft-07/schema":      jsonschema.Draft7,
	"json-schema.org/draft-06/schema":      jsonschema.Draft6,
	"json-schema.org/draft-04/schema":      jsonschema.Draft4,
}

const (
	dialectHint = "write https://json-schema.org/draft/2020-12/schema or omit $schema; the supported drafts are 2020-12, 2019-09, draft-07, draft-06 and draft-04"
	newest      = "https://json-schema.org/draft/2020-12/schema"
)

// dialectNamed returns the draft that a $schema names, or nil.
func dialectNamed(name string) *jsonschema.Draft {
	_, name, _ = strings.Cut(strings.TrimSuffix(name, "#"), "://")
	return dialects[name]
}

// dialectOf returns the draft of a schema. Without $schema it is 2020-12, unless
// items is a list of schemas, which only earlier drafts allow.
func dialectOf(doc any) (*jsonschema.Draft, *Problem) {
	m, _ := doc.(map[string]any)
	if name, ok := m["$schema"].(string); ok {
		d := dialectNamed(name)
		if d == nil {
			return nil, &Problem{"/$schema", name + " is not a supported draft", dialectHint}
		}
		return d, nil
	}
	s := &survey{}
	s.schema(doc, 0)
	switch {
	case s.listed && (s.newer || s.siblings != ""):
		return jsonschema.Draft2019, nil
	case s.listed:
		return jsonschema.Draft7, nil
	case s.siblings != "" && m["definitions"] != nil && m["$defs"] == nil:
		return nil, &Problem{
			"", "$ref beside " + s.siblings + " means one thing in draft-07, which has definitions, and another in 2020-12",
			"set the draft: $schema: " + newest + " applies both, $schema: http://json-schema.org/draft-07/schema# only the $ref",
		}
	}
	return jsonschema.Draft2020, nil
}

// survey searches for features of particular drafts.
type survey struct {
	listed   bool   // items is a list of schemas
	newer    bool   // a keyword introduced with 2019-09
	siblings string // a keyword beside a $ref, which drafts before 2019-09 ignore
}

// annotations are keywords without an effect on validation.
var annotations = []string{"$ref", "$schema", "$id", "id", "$comment", "$defs", "definitions", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}

func (s *survey) schema(v any, depth int) {
	m, ok := v.(map[string]any)
	if !ok || depth > MaxDepth {
		return
	}
	if _, ok := m["items"].([]any); ok {
		s.listed = true
	}
	for _, k := range []string{"dependentRequired", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems", "minContains", "maxContains", "$anchor"} {
		if _, ok := m[k]; ok {
			s.newer = true
		}
	}
	if _, ok := m["$ref"].(string); ok {
		for k := range m {
			if !slices.Contains(annotations, k) && (s.siblings == "" || k < s.siblings) {
				s.siblings = k
			}
		}
	}
	each(m, [3][]string{single, listed, named}, func(_ string, v any) { s.schema(v, depth+1) })
}

// Current returns the schema converted to 2020-12, for consumers that support
// only that draft: models with an enforced schema. It may allow more than the
// schema itself.
func (s *Schema) Current() json.RawMessage { return s.current }

// current converts a schema of an earlier draft to 2020-12.
func current(raw []byte, draft *jsonschema.Draft) (json.RawMessage, error) {
	if draft == jsonschema.Draft2020 {
		return raw, nil
	}
	doc, err := Decode(raw)
	if err != nil {
		return nil, err
	}
	a := &adaptation{alone: (&audit{draft: draft}).alone()}
	if err := a.schema("", doc, 0); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

// noValue makes `enum: []` reject everything, which the library does not do.
type noValue struct{}

// Compile selects schemas whose enum is empty.
func (noValue) Compile(_ jsonschema.CompilerContext, m map[string]any) (jsonschema.ExtSchema, error) {
	if values, ok := m["enum"].([]any); ok && len(values) == 0 {
		return noValue{}, nil
	}
	return nil, nil
}

// Validate rejects every value.
func (noValue) Validate(ctx jsonschema.ValidationContext, _ any) error {
	return ctx.Error("enum", "no value is valid: the enum is empty")
}

// reportMisplaced reports a $schema inside a schema that names another draft.
func (a *audit) reportMisplaced(path string, name string) {
	if path != "" && dialectNamed(name) != a.draft {
		a.report(path+"/$schema", fmt.Sprintf("%s is not the draft of the whole schema", name), "write the whole schema in one draft")
	}
}

// alone reports whether a $ref replaces the schema around it, as before 2019-09.
func (a *audit) alone() bool {
	return a.draft == jsonschema.Draft4 || a.draft == jsonschema.Draft6 || a.draft == jsonschema.Draft7
}
