package dsl

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
)

// stateTypes are what stands at the keys of a given state that have keys of
// their own.
var stateTypes = func() map[string]reflect.Type {
	out := keyTypes(reflect.TypeFor[engine.Result]())
	out["history"] = reflect.TypeFor[[]engine.Interaction]()
	return out
}()

// keyTypes are the keys that JSON of a struct has, and what stands there.
func keyTypes(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			maps.Copy(out, keyTypes(f.Type))
		case name != "" && name != "-":
			out[name] = f.Type
		}
	}
	return out
}

var ownJSON = reflect.TypeFor[json.Unmarshaler]()

// shaped reports keys in a given state that a value of a type does not have.
func (c *compiler) shaped(v *value, path string, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != reflect.TypeFor[engine.Step]() && reflect.PointerTo(t).Implements(ownJSON) {
		return // its keys are not those of the struct
	}
	switch {
	case v.kind == list && t.Kind() == reflect.Slice:
		for i, it := range v.items {
			c.shaped(it, path+"["+itoa(i)+"]", t.Elem())
		}
	case v.kind == dict && t.Kind() == reflect.Map:
		for _, e := range v.entries {
			c.shaped(e.val, join(path, e.key), t.Elem())
		}
	case v.kind == dict && t.Kind() == reflect.Struct:
		known := keyTypes(t)
		for _, e := range v.entries {
			if inner, ok := known[e.key]; ok {
				c.shaped(e.val, join(path, e.key), inner)
				continue
			}
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			c.report.error(diag.UnknownKey, e.place, "%s of a state has no key %s", path, quoted(e.key)).Advice = diag.Suggest(e.key, names)
		}
	}
}
