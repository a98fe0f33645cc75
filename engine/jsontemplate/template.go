package jsontemplate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
)

// Template is a JSON value with references: a tree whose texts are templates,
// or JSON text. It is safe for concurrent use.
type Template struct {
	name    string // what errors call it
	value   component.Value
	text    bool // it is JSON text
	written any  // the tree as written
}

// New makes a template of what an author wrote under a key, which errors name.
func New(name string, v component.Value) (*Template, error) {
	t := &Template{name: name, value: v}
	if err := Decode(v.JSON, &t.written); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var source string
	source, t.text = t.written.(string)
	if strings.ContainsAny(source, open+shut+nothing) {
		return nil, errors.New(name + " holds characters of Unicode's private use (U+E000 to U+E002), which mark values here")
	}
	switch t.written.(type) {
	case map[string]any, []any, string:
		return t, nil
	}
	return nil, errors.New(name + " is neither a mapping nor JSON text")
}

// Written is the template as its author wrote it, references and all.
func (t *Template) Written() any { return t.written }

// Visit asks look for each reference of the template and drops what comes of it.
func (t *Template) Visit(look component.Lookup) { t.value.Render(look) }

// Fill gives the value with what look finds: each reference became one JSON
// value, or a part of one JSON string. Members and items whose reference is
// unset fall away; nil = all of it did.
func (t *Template) Fill(look component.Lookup) (any, error) {
	if !t.text {
		return prune(t.value.Render(look), t.written), nil
	}
	marks := &marks{look: look}
	text, _ := t.value.Render(marks.lookup).(string)
	var tree any
	if err := Decode([]byte(quoteMarks(text)), &tree); err != nil {
		return nil, fmt.Errorf("%s is no JSON once it is filled: %w", t.name, err)
	}
	return marks.put(tree), nil
}

// Object is Fill for a template of which a JSON object must come; what fell
// away whole is an empty one.
func (t *Template) Object(look component.Lookup) (map[string]any, error) {
	tree, err := t.Fill(look)
	if err != nil {
		return nil, err
	}
	if tree == nil {
		return map[string]any{}, nil
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New(t.name + " is no JSON object once it is filled")
	}
	return object, nil
}

// Names lists what is referred to in args, by rendering without any value: a
// reference then asks for its whole name last.
func Names(render func(component.Lookup)) []string {
	var out []string
	render(func(ns, name string) (any, bool) {
		if ns == "args" && !strings.ContainsAny(name, ".[") && !slices.Contains(out, name) {
			out = append(out, name)
		}
		return nil, false
	})
	return out
}

// prune leaves out members and items that are null though written as
// something else: their reference is unset. What is emptied by it goes too.
func prune(v, written any) any {
	switch was := written.(type) {
	case map[string]any:
		now, ok := v.(map[string]any)
		if !ok {
			return v
		}
		out := make(map[string]any, len(now))
		for key, inner := range now {
			if inner = prune(inner, was[key]); inner != nil || was[key] == nil {
				out[key] = inner
			}
		}
		if len(out) == 0 && len(was) > 0 {
			return nil
		}
		return out
	case []any:
		now, ok := v.([]any)
		if !ok || len(now) != len(was) {
			return v
		}
		out := make([]any, 0, len(now))
		for i, inner := range now {
			if inner = prune(inner, was[i]); inner != nil || was[i] == nil {
				out = append(out, inner)
			}
		}
		if len(out) == 0 && len(was) > 0 {
			return nil
		}
		return out
	}
	return v
}
