package tool

import (
	"os"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/tool"
)

// lookup returns the variables of a tool's own templates: the arguments of the call, with
// numbers as written, and everything else from the engine or, if the engine has no value,
// from env. Dotted names select members of objects and lists.
func lookup(call *tool.Call, env func(string) string) component.Lookup {
	var args map[string]any
	// Arguments that are not an object have no names; the tool itself rejects them.
	_ = jsonvalue.Unmarshal(call.Args, &args)
	return deep(func(ns, name string) (any, bool) {
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
	})
}

// deep resolves names such as "user.name" and "list[0]" within the values that look
// returns, so that a wrapper that marks or escapes values receives the selected part.
func deep(look component.Lookup) component.Lookup {
	return func(ns, name string) (any, bool) {
		for end := len(name); end > 0; end = strings.LastIndexAny(name[:end], ".[") {
			if v, ok := look(ns, name[:end]); ok {
				return follow(v, name[end:])
			}
		}
		return nil, false
	}
}

// follow resolves a path of .field and [index] in a value.
func follow(v any, path string) (any, bool) {
	for path != "" {
		end := strings.IndexAny(path[1:], ".[") + 1
		if end == 0 {
			end = len(path)
		}
		part := path[1:end]
		if path[0] == '[' {
			i, err := strconv.Atoi(strings.TrimSuffix(part, "]"))
			list, ok := v.([]any)
			if !ok || err != nil || i < 0 || i >= len(list) {
				return nil, false
			}
			v = list[i]
		} else {
			object, ok := v.(map[string]any)
			if !ok {
				return nil, false
			}
			if v, ok = object[part]; !ok {
				return nil, false
			}
		}
		path = path[end:]
	}
	return v, true
}

// machine returns the process environment as the settings expose it.
func machine(env func(string) string) func(string) string {
	if env == nil {
		return os.Getenv
	}
	return env
}

// references returns the names of args that a template references, in order.
func references(render func(component.Lookup)) []string {
	var out []string
	render(func(ns, name string) (any, bool) {
		if ns == "args" {
			out = append(out, name)
		}
		return nil, false
	})
	return out
}
