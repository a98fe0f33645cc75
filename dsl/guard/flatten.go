package guard

import (
	"maps"
	"slices"
	"strings"
)

// Limits of a flattened schema: the depth of references and parts, and the total
// number of parts. A schema that refers to itself in n places would have
// n^maxDepth of them.
const (
	maxFlatDepth = 12
	maxFlatParts = 10_000
)

// FlattenSchema resolves the references within a schema and merges the parts of
// allOf. Parts beyond the limits and missing ones become schemas that allow any
// value.
func FlattenSchema(schema any) any {
	f := &flattener{root: schema, left: maxFlatParts}
	return f.flatten(schema, 0)
}

// flattener is the state of flattening one schema.
type flattener struct {
	root any
	left int // remaining parts
}

func (f *flattener) flatten(schema any, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	if f.left--; f.left < 0 || depth > maxFlatDepth {
		return true
	}
	out := maps.Clone(s)
	for _, key := range []string{"properties", "patternProperties"} {
		if props, ok := out[key].(map[string]any); ok {
			flat := make(map[string]any, len(props))
			for _, name := range slices.Sorted(maps.Keys(props)) {
				flat[name] = f.flatten(props[name], depth+1)
			}
			out[key] = flat
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if out[key] != nil {
			out[key] = f.flatten(out[key], depth+1)
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, ok := out[key].([]any); ok {
			flat := make([]any, len(list))
			for i := range list {
				flat[i] = f.flatten(list[i], depth+1)
			}
			out[key] = flat
		}
	}
	if ref, ok := s["$ref"].(string); ok {
		delete(out, "$ref")
		target, _ := f.flatten(atPointer(f.root, ref), depth+1).(map[string]any)
		if target == nil {
			return true
		}
		out = mergedSchemas(target, out)
	}
	all, _ := out["allOf"].([]any)
	delete(out, "allOf")
	for _, part := range all {
		if m, ok := f.flatten(part, depth+1).(map[string]any); ok {
			out = mergedSchemas(out, m)
		}
	}
	return out
}

// atPointer returns the target of a reference within a schema, or nil.
func atPointer(root any, ref string) any {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := root
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		if part == "" {
			continue
		}
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	return at
}

// mergedSchemas returns a schema that is the conjunction of two, as far as
// interval.OfSchema reads them.
func mergedSchemas(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	for key, v := range b {
		was, both := out[key]
		switch {
		case !both:
			out[key] = v
		case key == "properties":
			props := map[string]any{}
			for _, part := range []any{was, v} {
				if m, ok := part.(map[string]any); ok {
					maps.Copy(props, m)
				}
			}
			out[key] = props
		case key == "required":
			l, _ := was.([]any)
			r, _ := v.([]any)
			out[key] = slices.Concat(l, r)
		}
	}
	return out
}
