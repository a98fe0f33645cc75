package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// CompileForeign compiles a schema that another program wrote, such as a tool
// server's input schema. It accepts earlier drafts, and omits what Compile
// rejects if that only makes validation less strict, because the server validates
// again. notes lists what was omitted, one line each, sorted.
func CompileForeign(raw []byte) (s *Schema, notes []string, err error) {
	doc, err := read(raw)
	if err != nil {
		return nil, nil, Problems{{Message: err.Error()}}
	}
	a := &adaptation{}
	if m, ok := doc.(map[string]any); ok {
		name, _ := m["$schema"].(string)
		a.alone = (&audit{draft: dialectNamed(name)}).alone()
	}
	if err := a.schema("", doc, 0); err != nil {
		return nil, nil, err
	}
	if raw, err = json.Marshal(doc); err != nil {
		return nil, nil, Problems{{Message: err.Error()}}
	}
	s, err = compile(raw, doc, jsonschema.Draft2020)
	slices.Sort(a.notes)
	return s, a.notes, err
}

// adaptation rewrites a decoded schema in place.
type adaptation struct {
	notes []string
	alone bool // a $ref replaces the schema around it, as before 2019-09
}

func (a *adaptation) drop(path string, m map[string]any, key, why string) {
	delete(m, key)
	a.notes = append(a.notes, fmt.Sprintf("%s/%s: %s, left out", path, key, why))
}

func (a *adaptation) schema(path string, s any, depth int) error {
	m, ok := s.(map[string]any)
	if !ok {
		return nil
	}
	if depth > MaxDepth {
		return Problems{{Path: path, Message: fmt.Sprintf("schemas are nested more than %d levels deep", MaxDepth)}}
	}
	for _, k := range []string{"$schema", "$id", "id", "$vocabulary", "$recursiveAnchor", "$dynamicAnchor"} {
		if _, ok := m[k].(string); ok || strings.HasPrefix(k, "$") {
			delete(m, k) // dialects and addresses have no effect on validation
		}
	}
	if _, ok := m["$ref"].(string); ok && a.alone {
		maps.DeleteFunc(m, func(k string, _ any) bool { return !slices.Contains(annotations, k) })
	}
	a.items(m)
	a.dependencies(m)
	a.bounds(m, "exclusiveMinimum", "minimum")
	a.bounds(m, "exclusiveMaximum", "maximum")
	a.references(path, m)
	a.patterns(path, m)
	var err error
	each(m, [3][]string{single, listed, named}, func(p string, s any) {
		if err == nil {
			err = a.schema(path+p, s, depth+1)
		}
	})
	return err
}

// items converts the list form of earlier drafts to prefixItems.
func (a *adaptation) items(m map[string]any) {
	list, ok := m["items"].([]any)
	if !ok {
		return
	}
	m["prefixItems"] = list
	delete(m, "items")
	if more, ok := m["additionalItems"]; ok {
		m["items"] = more
	}
	delete(m, "additionalItems")
}

// dependencies converts the keyword of earlier drafts to its two replacements.
func (a *adaptation) dependencies(m map[string]any) {
	all, ok := m["dependencies"].(map[string]any)
	if !ok {
		return
	}
	delete(m, "dependencies")
	for name, d := range all {
		key := "dependentSchemas"
		if _, ok := d.([]any); ok {
			key = "dependentRequired"
		}
		to, _ := m[key].(map[string]any)
		if to == nil {
			to = map[string]any{}
			m[key] = to
		}
		to[name] = d
	}
}

// bounds converts Draft 4's exclusiveMinimum: true to a number.
func (a *adaptation) bounds(m map[string]any, exclusive, bound string) {
	on, ok := m[exclusive].(bool)
	if !ok {
		return
	}
	delete(m, exclusive)
	if n, has := m[bound]; on && has {
		m[exclusive] = n
		delete(m, bound)
	}
}

func (a *adaptation) references(path string, m map[string]any) {
	if target, ok := m["$ref"].(string); ok && !strings.HasPrefix(target, "#") {
		a.drop(path, m, "$ref", "it is outside the schema")
	}
	for _, k := range []string{"$dynamicRef", "$recursiveRef"} {
		if _, ok := m[k]; ok {
			a.drop(path, m, k, "it is not supported")
		}
	}
}

func (a *adaptation) patterns(path string, m map[string]any) {
	if p, ok := m["pattern"].(string); ok {
		if _, err := regexp.Compile(p); err != nil {
			a.drop(path, m, "pattern", "it is no RE2 pattern")
		}
	}
	patterns, _ := m["patternProperties"].(map[string]any)
	for p := range patterns {
		if _, err := regexp.Compile(p); err != nil {
			a.drop(path, m, "patternProperties", "it has a name that is no RE2 pattern")
			if m["additionalProperties"] == false {
				a.drop(path, m, "additionalProperties", "it goes with patternProperties")
			}
			return
		}
	}
}
