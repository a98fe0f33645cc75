package testspec

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/plan"
)

// stateTypes maps the keys of a given state to types with keys of their own.
var stateTypes = func() map[string]reflect.Type {
	out := keyTypes(reflect.TypeFor[engine.Result]())
	out["history"] = reflect.TypeFor[[]memory.Interaction]()
	return out
}()

// keyTypes returns the keys of a struct's JSON, with their types.
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

// checkKeys reports unknown keys in a given state.
func (c *Compiler) checkKeys(v *syntax.Node, path string, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != reflect.TypeFor[plan.Step]() && reflect.PointerTo(t).Implements(ownJSON) {
		return // its keys are not those of the struct
	}
	switch {
	case v.Kind == syntax.List && t.Kind() == reflect.Slice:
		for i, it := range v.Items {
			c.checkKeys(it, path+"["+strconv.Itoa(i)+"]", t.Elem())
		}
	case v.Kind == syntax.Map && t.Kind() == reflect.Map:
		for _, e := range v.Entries {
			c.checkKeys(e.Value, config.Join(path, e.Key), t.Elem())
		}
	case v.Kind == syntax.Map && t.Kind() == reflect.Struct:
		known := keyTypes(t)
		for _, e := range v.Entries {
			if inner, ok := known[e.Key]; ok {
				c.checkKeys(e.Value, config.Join(path, e.Key), inner)
				continue
			}
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			c.Report.Error(diag.UnknownKey, e.Position, "unknown key %[2]s in %[1]s of a state", path, syntax.Quote(e.Key)).Advice = diag.Suggest(e.Key, names)
		}
	}
}
