package guard

import (
	"maps"
	"slices"
	"strings"
)

// maxRefs bounds how deep the references of a schema are followed.
const maxRefs = 12

// flattened is a schema without references within itself, and with the parts of
// allOf put together. What is too deep or cannot be found is any value.
func flattened(schema, root any, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	if depth > maxRefs {
		return true
	}
	out := maps.Clone(s)
	if ref, ok := s["$ref"].(string); ok {
		delete(out, "$ref")
		target, _ := flattened(atPointer(root, ref), root, depth+1).(map[string]any)
		if target == nil {
			return true
		}
		out = mergedSchemas(target, out)
	}
	for _, key := range []string{"properties", "patternProperties"} {
		if props, ok := out[key].(map[string]any); ok {
			flat := make(map[string]any, len(props))
			for name, p := range props {
				flat[name] = flattened(p, root, depth+1)
			}
			out[key] = flat
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if out[key] != nil {
			out[key] = flattened(out[key], root, depth+1)
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, ok := out[key].([]any); ok {
			flat := make([]any, len(list))
			for i := range list {
				flat[i] = flattened(list[i], root, depth+1)
			}
			out[key] = flat
		}
	}
	all, _ := out["allOf"].([]any)
	delete(out, "allOf")
	for _, part := range all {
		if m, ok := flattened(part, root, depth+1).(map[string]any); ok {
			out = mergedSchemas(out, m)
		}
	}
	return out
}

// atPointer is what a reference within a schema leads to; nil = nothing.
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

// mergedSchemas is a schema that says what two say, as far as Fits looks.
func mergedSchemas(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	for key, v := range b {
		was, both := out[key]
		switch {
		case !both:
			out[key] = v
		case key == "properties":
			l, _ := was.(map[string]any)
			r, _ := v.(map[string]any)
			props := maps.Clone(l)
			maps.Copy(props, r)
			out[key] = props
		case key == "required":
			l, _ := was.([]any)
			r, _ := v.([]any)
			out[key] = slices.Concat(l, r)
		}
	}
	return out
}
