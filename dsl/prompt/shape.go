package prompt

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// check checks whether a name without a default has a value.
func (p *parser) check(at, end int, r *reference) {
	if p.options.Known == nil {
		return
	}
	var known Knowledge
	var from place
	for _, from = range r.places {
		if known = p.options.Known(r.ns, from.name); known.Declared {
			break
		}
	}
	full := r.ns + "." + r.name
	written := func(s string) string { return p.src[at:at+2] + s + string(closing(p.src[at+1])) }
	switch {
	case !known.Declared:
		problem := p.report(UnknownName, at, end, "unknown name "+full, "declare it, or add a default: "+written(full+":-default"))
		if near := diag.Nearest(r.name, known.Names); near != "" {
			problem.Advice = diag.DidYouMean(p.src[at:end], written(r.ns+"."+near), "")
		}
	case known.Optional:
		p.report(OptionalName, at, end, full+" is optional and has no default here", "write "+written(full+":-")+" for an empty text, or "+written(full+":-default"))
	default:
		if e := checkPath(r.ns+"."+from.name, known.Schema, from.rest); e != nil {
			p.report(NoField, at, end, e.message, "write "+written(e.instead))
		}
	}
}

// deadEnd is the reason why a path has no value, and a replacement.
type deadEnd struct{ message, instead string }

// checkPath follows a path from a value with a schema. It returns nil if the path may
// have a value, also if the schema leaves it open.
func checkPath(name string, schema any, path []key) *deadEnd {
	for _, k := range path {
		s, _ := schema.(map[string]any)
		kind, _ := s["type"].(string)
		switch {
		case kind == "" || kind == "null":
			return nil
		case kind == "object" && k.field != "":
			next, ok := field(s, k.field)
			if !ok {
				return missing(name, k.field, s)
			}
			name, schema = name+"."+k.field, next
		case kind == "array" && k.field == "":
			name, schema = name+"["+strconv.Itoa(k.index)+"]", s["items"]
		case kind == "array":
			return &deadEnd{name + " is a list and has no " + k.field, name + "[0]"}
		case k.field == "":
			return &deadEnd{name + " is not a list but has type " + kind, name}
		default:
			return &deadEnd{name + " is not an object but has type " + kind, name}
		}
	}
	return nil
}

// field returns the schema of an object's field. ok is false if there can be
// none.
func field(s map[string]any, name string) (schema any, ok bool) {
	properties, _ := s["properties"].(map[string]any)
	if schema, ok = properties[name]; ok {
		return schema, true
	}
	if s["patternProperties"] != nil {
		return nil, true
	}
	extra := s["additionalProperties"]
	return extra, extra != false
}

// missing lists the properties of an object without the wanted one.
func missing(name, field string, s map[string]any) *deadEnd {
	properties, _ := s["properties"].(map[string]any)
	names := slices.Sorted(maps.Keys(properties))
	e := &deadEnd{name + " has no property " + field, name}
	if near := diag.Nearest(field, names); near != "" {
		e.instead += "." + near
	} else if len(names) > 0 {
		e.message += "; it has " + strings.Join(names, ", ")
	}
	return e
}
