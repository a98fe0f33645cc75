package planning

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/plan"
)

// stepsOnly restricts references in model output to step results.
var stepsOnly = prompt.Options{Source: "a text of the plan", Namespaces: []string{"steps"}}

// parseRefs compiles a text written by a model. It returns nil if the text does not
// compile, which makes it plain text.
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

// refNames returns the names in the steps namespace that a step uses, in order of use.
func refNames(st plan.Step) []string {
	var out []string
	add := func(text string) {
		if t := parseRefs(text); t != nil {
			out = append(out, t.Names()...)
		}
	}
	add(st.Goal)
	add(st.Context)
	for _, text := range argTexts(st.Args) {
		add(text)
	}
	return out
}

// argTexts returns the strings in a step's arguments, in the order of their keys.
func argTexts(args map[string]json.RawMessage) []string {
	if len(args) == 0 {
		return nil
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(args)) {
		if value, err := reply.Decode(args[k]); err == nil {
			mapTexts(value, func(text string) any {
				out = append(out, text)
				return text
			})
		}
	}
	return out
}

// refers reports whether an argument references a step result.
func hasRefs(args map[string]json.RawMessage) bool {
	return slices.ContainsFunc(argTexts(args), func(text string) bool {
		t := parseRefs(text)
		return t != nil && len(t.Names()) > 0
	})
}

// splitRef splits a name such as "s1.output.x" into the step ID and the field.
func splitRef(name string) (id, field string) {
	id, rest, _ := strings.Cut(strings.TrimPrefix(name, "steps."), ".")
	id, _, _ = strings.Cut(id, "[")
	field, _, _ = strings.Cut(rest, ".")
	field, _, _ = strings.Cut(field, "[")
	return id, field
}

// Refs returns the IDs of the steps that a step references, in order of use.
func Refs(st plan.Step) []string {
	var out []string
	for _, name := range refNames(st) {
		if id, _ := splitRef(name); !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// badRefs returns the references to fields that no step has.
func badRefs(st plan.Step) []string {
	var out []string
	for _, name := range refNames(st) {
		if _, field := splitRef(name); field != "result" && field != "output" && field != "" {
			out = append(out, "${"+name+"}")
		}
	}
	return out
}

// StepValue returns the value of a name in the steps namespace: "s1.result" or
// "s1.output". The template resolves a path into the output.
func StepValue(v *engine.View, name string) (any, bool) {
	id, field, _ := strings.Cut(name, ".")
	rec, ok := v.State.Record(id)
	if !ok {
		return nil, false
	}
	switch field {
	case "":
		return map[string]any{"result": rec.Result, "output": stepOutput(rec), "status": string(rec.Status), "error": rec.Error}, true
	case "result":
		return rec.Result, true
	case "output":
		return stepOutput(rec), true
	}
	return nil, false
}

// stepOutput returns the step's output. Numbers keep their original notation.
func stepOutput(rec plan.StepRecord) any {
	out := rec.Output()
	if _, isText := out.(string); isText {
		return out
	}
	if exact, err := reply.Decode([]byte(rec.Result)); err == nil {
		return exact
	}
	return out
}

// Fill returns the step with its references replaced by step results.
func Fill(v *engine.View, st plan.Step) (plan.Step, error) {
	if isQuestion(v, st) {
		return st, nil
	}
	lookup := func(_, name string) (any, bool) { return StepValue(v, name) } // the namespace is always steps
	var err error
	text := func(in string) string {
		t := parseRefs(in)
		if t == nil {
			return in
		}
		if missing := unresolved(in, t, lookup); missing != "" && err == nil {
			err = fmt.Errorf("%s is undefined: no step returned it", missing)
		}
		return strings.Join(t.Render(lookup), "")
	}
	st.Goal, st.Context = text(st.Goal), text(st.Context)
	if !slices.ContainsFunc(argTexts(st.Args), func(text string) bool { return strings.Contains(text, "steps.") }) {
		return st, err
	}
	args := make(map[string]json.RawMessage, len(st.Args))
	for _, k := range slices.Sorted(maps.Keys(st.Args)) {
		value, e := reply.Decode(st.Args[k])
		if e != nil {
			return st, fmt.Errorf("argument %s: %w", k, e)
		}
		args[k] = jsonvalue.Encode(fillValue(value, lookup, text))
	}
	st.Args = args
	return st, err
}

// fillValue replaces references in every string of a JSON value. A string that consists
// of one reference becomes the referenced value, with its JSON type. An unresolvable
// reference is passed to text, which reports it, so that no tool is called with null in
// its place.
func fillValue(value any, lookup component.Lookup, text func(string) string) any {
	return mapTexts(value, func(in string) any {
		if t := parseRefs(in); t != nil {
			if whole, ok := t.Whole(lookup); ok && whole != nil {
				return whole
			}
		}
		return text(in)
	})
}

// mapTexts replaces every string in a JSON value, in the order of the keys.
func mapTexts(value any, f func(string) any) any {
	switch value := value.(type) {
	case string:
		return f(value)
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = mapTexts(value[i], f)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for _, k := range slices.Sorted(maps.Keys(value)) {
			out[k] = mapTexts(value[k], f)
		}
		return out
	}
	return value
}

// unresolved returns the first reference in a text that cannot be resolved and has no
// default.
func unresolved(text string, t *prompt.Template, lookup component.Lookup) string {
	for _, name := range t.Names() {
		one, _ := prompt.Parse("${"+name+"}", stepsOnly)
		if value, ok := one.Whole(lookup); (!ok || value == nil) && !hasDefault(text, name) {
			return "${" + name + "}"
		}
	}
	return ""
}

// defaulted reports whether every use of the name in the text has a default.
func hasDefault(text, name string) bool {
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

// isQuestion reports whether the step is the run's question. No model wrote it, so it
// contains no references.
func isQuestion(v *engine.View, st plan.Step) bool {
	return st.Goal == v.State.Question && len(engine.NodesWith[engine.Planner](v.Program)) == 0
}
