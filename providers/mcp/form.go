package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/interrupt"
)

// form is the flat object that a server asks a human to fill in.
type form struct {
	schema   json.RawMessage
	fields   map[string]field
	required []string
}

// newForm parses the requested schema; nil is a yes-or-no question.
func newForm(requested any) (*form, error) {
	f := &form{}
	if requested == nil {
		return f, nil
	}
	f.schema = toJSON(requested)
	var shape struct {
		Properties map[string]field `json:"properties"`
		Required   []string         `json:"required"`
	}
	if err := json.Unmarshal(f.schema, &shape); err != nil {
		return nil, fmt.Errorf("the requested schema is none: %w", err)
	}
	f.fields, f.required = shape.Properties, shape.Required
	return f, nil
}

// content returns the values of an answer. An approval accepts the defaults.
func (f *form) content(d interrupt.Decision) (map[string]any, error) {
	given := map[string]any{}
	text := strings.TrimSpace(d.Text)
	switch {
	case d.Do == "edit" || d.Do == "text" && strings.HasPrefix(text, "{"):
		if d.Do == "edit" {
			text = string(d.Edit)
		}
		if err := json.Unmarshal([]byte(text), &given); err != nil || given == nil {
			return nil, errors.New("it is no JSON object of the values")
		}
	case d.Do == "text" && len(f.fields) == 1:
		for name, field := range f.fields {
			given[name] = field.parse(text)
		}
	case d.Do == "text":
		return nil, fmt.Errorf("the values are wanted as edit:%s", f.example())
	}
	return f.complete(given)
}

// complete adds the defaults and validates the values.
func (f *form) complete(given map[string]any) (map[string]any, error) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		field, ok := f.fields[name]
		if !ok {
			return nil, fmt.Errorf("%s is not asked for: the values are %s", name, strings.Join(slices.Sorted(maps.Keys(f.fields)), ", "))
		}
		if err := field.check(given[name]); err != nil {
			return nil, fmt.Errorf("%s %w", name, err)
		}
	}
	for name, field := range f.fields {
		if _, ok := given[name]; !ok && field.Default != nil {
			given[name] = field.Default
		}
	}
	for _, name := range f.required {
		if _, ok := given[name]; !ok {
			return nil, fmt.Errorf("%s is needed: answer edit:%s", name, f.example())
		}
	}
	return given, nil
}

// example returns the form with types as values.
func (f *form) example() string {
	out := map[string]string{}
	for name, field := range f.fields {
		out[name] = field.Type
	}
	return string(toJSON(out))
}

// field is one field of a form.
type field struct {
	Type      string   `json:"type"`
	Enum      []string `json:"enum"`
	Names     []string `json:"enumNames"`
	OneOf     []choice `json:"oneOf"`
	Default   any      `json:"default"`
	Minimum   *float64 `json:"minimum"`
	Maximum   *float64 `json:"maximum"`
	MinLength *int     `json:"minLength"`
	MaxLength *int     `json:"maxLength"`
	MinItems  *int     `json:"minItems"`
	MaxItems  *int     `json:"maxItems"`
	Items     struct {
		Enum  []string `json:"enum"`
		AnyOf []choice `json:"anyOf"`
	} `json:"items"`
}

// choice is a value of a field with its display name.
type choice struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// parse converts a text to the field's type; an invalid text stays a string, which check
// rejects.
func (f field) parse(text string) any {
	switch f.Type {
	case "boolean":
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	case "number", "integer":
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
	case "array":
		var out []any
		for part := range strings.SplitSeq(text, ",") {
			out = append(out, strings.TrimSpace(part))
		}
		return out
	}
	for i, name := range f.Names {
		if name == text && i < len(f.Enum) {
			return f.Enum[i]
		}
	}
	for _, c := range f.OneOf {
		if c.Title == text {
			return c.Const
		}
	}
	return text
}

// check validates a value.
func (f field) check(v any) error {
	switch f.Type {
	case "boolean":
		if _, ok := v.(bool); !ok {
			return errors.New("wants true or false")
		}
	case "number", "integer":
		return f.checkNumber(v)
	case "array":
		return f.checkList(v)
	default:
		return f.checkText(v)
	}
	return nil
}

func (f field) checkNumber(v any) error {
	n, ok := v.(float64)
	switch {
	case !ok || f.Type == "integer" && n != float64(int64(n)):
		return errors.New("wants a " + strings.Replace(f.Type, "integer", "whole number", 1))
	case f.Minimum != nil && n < *f.Minimum:
		return fmt.Errorf("wants at least %g", *f.Minimum)
	case f.Maximum != nil && n > *f.Maximum:
		return fmt.Errorf("wants at most %g", *f.Maximum)
	}
	return nil
}

func (f field) checkText(v any) error {
	s, ok := v.(string)
	among := append(slices.Clone(f.Enum), consts(f.OneOf)...)
	length := len([]rune(s))
	switch {
	case !ok:
		return errors.New("wants a text")
	case len(among) > 0 && !slices.Contains(among, s):
		return errors.New("wants one of " + strings.Join(among, ", "))
	case f.MinLength != nil && length < *f.MinLength:
		return fmt.Errorf("wants at least %d characters", *f.MinLength)
	case f.MaxLength != nil && length > *f.MaxLength:
		return fmt.Errorf("wants at most %d characters", *f.MaxLength)
	}
	return nil
}

func (f field) checkList(v any) error {
	list, ok := v.([]any)
	among := append(slices.Clone(f.Items.Enum), consts(f.Items.AnyOf)...)
	switch {
	case !ok:
		return errors.New("wants a list")
	case f.MinItems != nil && len(list) < *f.MinItems:
		return fmt.Errorf("wants at least %d values", *f.MinItems)
	case f.MaxItems != nil && len(list) > *f.MaxItems:
		return fmt.Errorf("wants at most %d values", *f.MaxItems)
	}
	for _, item := range list {
		if s, ok := item.(string); !ok || len(among) > 0 && !slices.Contains(among, s) {
			return errors.New("wants values of " + strings.Join(among, ", "))
		}
	}
	return nil
}

func consts(choices []choice) []string {
	out := make([]string, len(choices))
	for i, c := range choices {
		out[i] = c.Const
	}
	return out
}
