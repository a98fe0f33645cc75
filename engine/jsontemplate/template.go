package jsontemplate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
)

// Template is a JSON value with references: a tree whose strings are templates, or JSON
// text. It is safe for concurrent use.
type Template struct {
	name    string // for errors
	value   component.Value
	text    bool // it is JSON text
	written any  // the tree as written
}

// New returns the template that an author wrote under a key; errors name the key.
func New(name string, v component.Value) (*Template, error) {
	t := &Template{name: name, value: v}
	if err := Decode(v.JSON, &t.written); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var source string
	source, t.text = t.written.(string)
	if strings.ContainsAny(source, open+shut+nothing) {
		return nil, errors.New(name + " contains private-use characters (U+E000 to U+E002), which are reserved")
	}
	switch t.written.(type) {
	case map[string]any, []any, string:
		return t, nil
	}
	return nil, errors.New(name + " is neither a mapping nor JSON text")
}

// Written returns the template as written.
func (t *Template) Written() any { return t.written }

// Visit calls look for each reference of the template.
func (t *Template) Visit(look component.Lookup) { t.value.Render(look) }

// Fill returns the rendered value: each reference becomes one JSON value, or part of one
// JSON string. Members and items with an unset reference are dropped; nil = everything
// was dropped.
func (t *Template) Fill(look component.Lookup) (any, error) {
	if !t.text {
		return prune(t.value.Render(look), t.written), nil
	}
	marks := &marks{look: look}
	text, _ := t.value.Render(marks.lookup).(string)
	var tree any
	if err := Decode([]byte(quoteMarks(text)), &tree); err != nil {
		return nil, fmt.Errorf("%s is not valid JSON after its references are replaced: %w", t.name, err)
	}
	return marks.put(tree), nil
}

// Object is Fill for a template that must yield an object; if everything was dropped it
// is empty.
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
		return nil, errors.New(t.name + " is not a JSON object after its references are replaced")
	}
	return object, nil
}

// Names returns the references to args. It renders without values, so that each reference
// is looked up by its full name last.
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

// prune drops members and items that became null because their reference is unset, and
// those that become empty by that.
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
