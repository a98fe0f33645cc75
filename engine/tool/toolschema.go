package tool

import (
	"encoding/json"
	"slices"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/orderedjson"
)

// withoutFixed returns a tool's schema for models, without the fixed arguments, which
// they cannot set. The rest keeps its order. A schema that is not an object is returned
// unchanged.
func withoutFixed(schema json.RawMessage, fixed []Fixed) json.RawMessage {
	if len(fixed) == 0 {
		return schema
	}
	isFixed := func(name string) bool {
		return slices.ContainsFunc(fixed, func(f Fixed) bool { return f.Name == name })
	}
	all, ok := orderedjson.Parse(schema)
	if !ok {
		return schema
	}
	for i, m := range all {
		switch m.Name {
		case "properties":
			if inner, ok := orderedjson.Parse(m.Value); ok {
				all[i].Value = slices.DeleteFunc(inner, func(p orderedjson.Member) bool { return isFixed(p.Name) }).JSON()
			}
		case "required":
			var names []string
			if json.Unmarshal(m.Value, &names) == nil {
				all[i].Value = jsonvalue.Encode(append([]string{}, slices.DeleteFunc(names, isFixed)...))
			}
		}
	}
	return all.JSON()
}
