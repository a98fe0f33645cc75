package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"sort"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
)

// Info is what models and guards know of the tool: the author's description
// replaces the tool's own, under the name the spec gave it, and what the author
// fixed is no argument.
func (t *HostTool) Info() ToolInfo {
	i := t.Tool.Info()
	i.Effect = t.effect()
	if t.Spec == nil {
		return i
	}
	i.Name, i.Input = t.Spec.Name, settable(i.Input, t.Spec.With)
	if t.Spec.Description != "" {
		i.Description = t.Spec.Description
	}
	return i
}

func (t *HostTool) effect() Effect {
	if t.Spec != nil && t.Spec.Effect != "" {
		return t.Spec.Effect
	}
	if e := t.Tool.Info().Effect; e != "" {
		return e
	}
	return WriteEffect
}

// effect is the tool's effect, asked once a run.
func (t *BoundTool) effect() Effect {
	if t.known != "" {
		return t.known
	}
	return t.HostTool.effect()
}

func (t *BoundTool) maxOutput() int {
	if t.Spec != nil && t.Spec.MaxOutputBytes > 0 {
		return t.Spec.MaxOutputBytes
	}
	return DefaultToolOutput
}

// arguments makes the arguments a tool is called with: an object that fits its
// schema, with the author's fixed values on top.
func (t *BoundTool) arguments(s *scope, raw json.RawMessage) (args json.RawMessage, coerced []ArgsRepair, err error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '{' || !json.Valid(raw) {
		return nil, nil, fmt.Errorf("the arguments of %s are not a JSON object: %s", t.Info().Name, clip(string(raw), 200))
	}
	if err := unambiguous(raw); err != nil {
		return nil, nil, fmt.Errorf("%s cannot be called: %w", t.Info().Name, err)
	}
	if t.Spec != nil && len(t.Spec.With) > 0 {
		m := map[string]json.RawMessage{}
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, nil, err
		}
		for _, f := range t.Spec.With {
			respelled(m, f.Name)
			m[f.Name] = encoded(f.Value.Render(s.r.lookup(raw)))
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
				m, _ = decoded(args).(map[string]any) // checked before
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

// decoded is JSON that was checked, numbers with the digits they were written with.
func decoded(b []byte) (v any) {
	_ = text.Decode(b, &v)
	return v
}

// PlainJSON is JSON that was checked, as expressions want it: numbers are int
// where they are whole, else float64.
func PlainJSON(b []byte) any { return counts(decoded(b)) }

func counts(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return int(i)
		}
		f, _ := v.Float64() // the decoder checked it
		return f
	case []any:
		for i := range v {
			v[i] = counts(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = counts(v[k])
		}
	}
	return v
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

// fail makes the record that of a call that did not succeed.
func (rec *ToolRecord) fail(status CallStatus, message string) {
	rec.Status, rec.Result, rec.text = status, message, message
}

// Text is the record's result as a model reads it.
func (rec ToolRecord) Text() string {
	if rec.text != "" {
		return rec.text
	}
	switch v := rec.Result.(type) {
	case string:
		return v
	case json.RawMessage:
		return string(v)
	}
	b, _ := json.Marshal(rec.Result)
	return string(b)
}

func (o *ToolOutput) value() any {
	if len(o.Data) > 0 {
		return o.Data
	}
	return o.Text
}

func (o *ToolOutput) json() []byte {
	if len(o.Data) > 0 {
		return o.Data
	}
	return []byte(o.Text)
}

func (o *ToolOutput) text() string {
	if o.Text != "" {
		return o.Text
	}
	return string(o.Data)
}

// valid gives raw where it is JSON, else the text as a JSON string, so that a
// record always is JSON.
func valid(raw json.RawMessage) json.RawMessage {
	if json.Valid(raw) {
		return raw
	}
	b, _ := json.Marshal(string(raw))
	return b
}
