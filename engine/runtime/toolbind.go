package runtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"sort"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/tool"
)

// effect is the tool's effect, asked once a run.
func (t *BoundTool) effect() tool.Effect {
	if t.known != "" {
		return t.known
	}
	return t.Binding.Effect()
}

func (t *BoundTool) maxOutput() int {
	if t.Spec != nil && t.Spec.MaxOutputBytes > 0 {
		return t.Spec.MaxOutputBytes
	}
	return tool.DefaultMaxOutput
}

// arguments makes the arguments a tool is called with: an object that fits its
// schema, with the author's fixed values on top.
func (t *BoundTool) arguments(s *scope, raw json.RawMessage) (args json.RawMessage, coerced []tool.ArgsRepair, err error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '{' || !json.Valid(raw) {
		return nil, nil, fmt.Errorf("the arguments of %s are not a JSON object: %s", t.Info().Name, tool.Excerpt(string(raw), 200))
	}
	if err := tool.Unambiguous(raw); err != nil {
		return nil, nil, fmt.Errorf("%s cannot be called: %w", t.Info().Name, err)
	}
	if t.Spec != nil && len(t.Spec.With) > 0 {
		m := map[string]json.RawMessage{}
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, nil, err
		}
		for _, f := range t.Spec.With {
			respelled(m, f.Name)
			m[f.Name] = jsonvalue.Encode(f.Value.Render(s.r.lookup(raw)))
		}
		merged, err := json.Marshal(m)
		if err != nil {
			return nil, nil, err
		}
		raw = merged
	}
	if t.Fit == nil {
		return raw, nil, nil
	}
	args, coerced, err = t.Fit(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("the arguments of %s do not fit its schema:\n%w", t.Info().Name, err)
	}
	return args, coerced, nil
}

// respelled drops the arguments that are a fixed one in other letters: many
// programs take "to" for "To", and the last one of them counts.
func respelled(m map[string]json.RawMessage, fixed string) {
	maps.DeleteFunc(m, func(name string, _ json.RawMessage) bool { return strings.EqualFold(name, fixed) })
}

// lookup finds values for a tool's own templates.
func (r *run) lookup(args json.RawMessage) component.Lookup {
	var m map[string]any             // of args
	parameters := r.state.Parameters // the effect runs beside the run, which owns its state
	return func(ns, name string) (any, bool) {
		switch ns {
		case "args":
			if m == nil {
				m, _ = jsonvalue.Decode(args).(map[string]any) // checked before
			}
			v, ok := m[name]
			return v, ok
		case "parameters":
			v, ok := parameters[name]
			return v, ok
		case "env":
			if r.host.Env == nil {
				return nil, false
			}
			v := r.host.Env(name)
			return v, v != ""
		}
		return nil, false
	}
}

func (r *run) unknownTool(name string) string {
	names := make([]string, 0, len(r.tools))
	for n := range r.tools {
		names = append(names, n)
	}
	sort.Strings(names)
	if len(names) == 0 {
		return fmt.Sprintf("there is no tool %q: this agent has no tools", name)
	}
	return fmt.Sprintf("there is no tool %q; the tools are %s", name, strings.Join(names, ", "))
}
