package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine"
)

// In what a model writes only references to steps expand (DESIGN section 3).
var stepsOnly = prompt.Options{Namespaces: []string{"steps"}}

// parseRefs compiles a text a model wrote; one that cannot be compiled is
// plain text.
func parseRefs(text string) *prompt.Template {
	if !strings.Contains(text, "steps.") {
		return nil
	}
	t, problems := prompt.Parse(text, stepsOnly)
	for _, p := range problems {
		if p.Severity != prompt.Warning {
			return nil
		}
	}
	return t
}

// refNames lists the names in the steps namespace that a step uses, in order of use.
func refNames(st engine.Step) []string {
	var out []string
	add := func(text string) {
		if t := parseRefs(text); t != nil {
			out = append(out, t.Names()...)
		}
	}
	add(st.Goal)
	add(st.Context)
	if len(st.Args) > 0 {
		add(string(planJSON([]engine.Step{{Args: st.Args}})))
	}
	return out
}

// splitRef takes "steps.s1.output.x" apart: the step's id, and what of it.
func splitRef(name string) (id, field string) {
	id, rest, _ := strings.Cut(strings.TrimPrefix(name, "steps."), ".")
	id, _, _ = strings.Cut(id, "[")
	field, _, _ = strings.Cut(rest, ".")
	field, _, _ = strings.Cut(field, "[")
	return id, field
}

// stepRefs lists the ids of the steps that a step uses, in order of use.
func stepRefs(st engine.Step) []string {
	var out []string
	for _, name := range refNames(st) {
		if id, _ := splitRef(name); !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// badRefs lists the references to what no step has.
func badRefs(st engine.Step) []string {
	var out []string
	for _, name := range refNames(st) {
		if _, field := splitRef(name); field != "result" && field != "output" && field != "" {
			out = append(out, "${"+name+"}")
		}
	}
	return out
}

// stepValue is the value of a name in the steps namespace: "s1.result",
// "s1.output", or with a path into the output that the template resolves.
func stepValue(v engine.View, name string) (any, bool) {
	id, field, _ := strings.Cut(name, ".")
	rec, ok := v.State.Record(id)
	if !ok {
		return nil, false
	}
	switch field {
	case "":
		return map[string]any{"result": rec.Result, "output": rec.Output(), "status": string(rec.Status), "error": rec.Error}, true
	case "result":
		return rec.Result, true
	case "output":
		return rec.Output(), true
	}
	return nil, false
}

// filled is a step with its references replaced by what the steps gave.
func filled(v engine.View, st engine.Step) (engine.Step, error) {
	x := newValues(v)
	var err error
	text := func(in string) string {
		t := parseRefs(in)
		if t == nil {
			return in
		}
		if missing := unresolved(in, t, x); missing != "" && err == nil {
			err = fmt.Errorf("%s is not there: no step gave it", missing)
		}
		return strings.Join(t.Render(x.lookup), "")
	}
	st.Goal, st.Context = text(st.Goal), text(st.Context)
	if len(st.Args) == 0 || !strings.Contains(string(planJSON([]engine.Step{st})), "steps.") {
		return st, err
	}
	args := make(map[string]json.RawMessage, len(st.Args))
	for _, k := range sortedKeys(st.Args) {
		var value any
		if e := json.Unmarshal(st.Args[k], &value); e != nil {
			return st, fmt.Errorf("argument %s: %w", k, e)
		}
		b, e := json.Marshal(fillValue(value, x, text))
		if e != nil {
			return st, fmt.Errorf("argument %s: %w", k, e)
		}
		args[k] = b
	}
	st.Args = args
	return st, err
}

// fillValue replaces references in every string of a JSON value; a string that
// is one reference takes the JSON type of what it refers to.
func fillValue(value any, x *values, text func(string) string) any {
	switch value := value.(type) {
	case string:
		if t := parseRefs(value); t != nil {
			if whole, ok := t.Whole(x.lookup); ok {
				return whole
			}
		}
		return text(value)
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = fillValue(value[i], x, text)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for _, k := range sortedKeys(value) {
			out[k] = fillValue(value[k], x, text)
		}
		return out
	}
	return value
}

// unresolved names the first reference of a text that leads nowhere and has no
// default.
func unresolved(text string, t *prompt.Template, x *values) string {
	for _, name := range t.Names() {
		one, _ := prompt.Parse("${"+name+"}", stepsOnly)
		if value, ok := one.Whole(x.lookup); (!ok || value == nil) && !defaulted(text, name) {
			return "${" + name + "}"
		}
	}
	return ""
}

// defaulted says that a default follows wherever a text uses a name.
func defaulted(text, name string) bool {
	for {
		_, rest, found := strings.Cut(text, name)
		if !found {
			return true
		}
		text = rest
		if rest = strings.TrimLeft(rest, " \t"); rest != "" && strings.ContainsRune("}>|", rune(rest[0])) {
			return false
		}
	}
}

// sortedKeys is the keys of a map in an order that is always the same.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
