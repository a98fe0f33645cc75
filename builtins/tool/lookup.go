package tool

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// lookup finds the values of a tool's own templates: arguments as this call
// passed them, with numbers as they were written; everything else as the
// engine says, or, where it says nothing, the environment that it gave.
func lookup(call *engine.Call, env func(string) string) component.Lookup {
	var args map[string]any
	d := json.NewDecoder(bytes.NewReader(call.Args))
	d.UseNumber()
	// Arguments that are no object have no names; the tool refuses them itself.
	_ = d.Decode(&args)
	return func(ns, name string) (any, bool) {
		switch {
		case ns == "args":
			v, ok := args[name]
			return v, ok
		case call.Lookup != nil:
			return call.Lookup(ns, name)
		case ns == "env":
			v := machine(env)(name)
			return v, v != ""
		}
		return nil, false
	}
}

// machine is the machine's environment as the settings show it.
func machine(env func(string) string) func(string) string {
	if env == nil {
		return os.Getenv
	}
	return env
}

// references lists the names of a namespace that a template asks for, in order.
func references(t component.Template, ns string) []string {
	var out []string
	t.Render(func(space, name string) (any, bool) {
		if space == ns {
			out = append(out, name)
		}
		return nil, false
	})
	return out
}
