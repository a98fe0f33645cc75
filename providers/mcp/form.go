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

// newForm parses the requested schema. A nil schema is a yes-or-no question.
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
		return nil, fmt.Errorf("invalid requested schema: %w", err)
	}
	f.fields, f.required = shape.Properties, shape.Required
	return f, nil
}

// content returns the values of an answer. An approval accepts the defaults.
func (f *form) content(d interrupt.Decision) (map[string]any, error) {
	values := map[string]any{}
	text := strings.TrimSpace(d.Text)
	switch {
	case d.Do == "edit" || d.Do == "text" && strings.HasPrefix(text, "{"):
		if d.Do == "edit" {
			text = string(d.Edit)
		}
		if err := json.Unmarshal([]byte(text), &values); err != nil || values == nil {
			return nil, errors.New("not a JSON object")
		}
	case d.Do == "text" && len(f.fields) == 1:
		for name, field := range f.fields {
			values[name] = field.parse(text)
		}
	case d.Do == "text":
		return nil, fmt.Errorf("answer with edit:%s", f.example())
	}
	return f.complete(values)
}

// complete adds the defaults and validates the values.
func (f *form) complete(values map[string]any) (map[string]any, error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		field, ok := f.fields[name]
		if !ok {
			return nil, fmt.Errorf("unknown field %s; the fields are %s", name, strings.Join(slices.Sorted(maps.Keys(f.fields)), ", "))
		}
		if err := field.check(values[name]); err != nil {
			return nil, fmt.Errorf("%s %w", name, err)
		}
	}
	for name, field := range f.fields {
		if _, ok := values[name]; !ok && field.Default != nil {
			values[name] = field.Default
		}
	}
	for _, name := range f.required {
		if _, ok := values[name]; !ok {
			return nil, fmt.Errorf("%s is required; answer with edit:%s", name, f.example())
		}
	}
	return values, nil
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
			return errors.New("must be true or false")
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
		return errors.New("must be a " + strings.Replace(f.Type, "integer", "whole number", 1))
	case f.Minimum != nil && n < *f.Minimum:
		return fmt.Errorf("must be at least %g", *f.Minimum)
	case f.Maximum != nil && n > *f.Maximum:
		return fmt.Errorf("must be at most %g", *f.Maximum)
	}
	return nil
}

func (f field) checkText(v any) error {
	s, ok := v.(string)
	allowed := append(slices.Clone(f.Enum), consts(f.OneOf)...)
	length := len([]rune(s))
	switch {
	case !ok:
		return errors.New("must be a string")
	case len(allowed) > 0 && !slices.Contains(allowed, s):
		return errors.New("must be one of " + strings.Join(allowed, ", "))
	case f.MinLength != nil && length < *f.MinLength:
		return fmt.Errorf("must have at least %d characters", *f.MinLength)
	case f.MaxLength != nil && length > *f.MaxLength:
		return fmt.Errorf("must have at most %d characters", *f.MaxLength)
	}
	return nil
}

func (f field) checkList(v any) error {
	list, ok := v.([]any)
	allowed := append(slices.Clone(f.Items.Enum), consts(f.Items.AnyOf)...)
	switch {
	case !ok:
		return errors.New("must be a list")
	case f.MinItems != nil && len(list) < *f.MinItems:
		return fmt.Errorf("must have at least %d values", *f.MinItems)
	case f.MaxItems != nil && len(list) > *f.MaxItems:
		return fmt.Errorf("must have at most %d values", *f.MaxItems)
	}
	for _, item := range list {
		if s, ok := item.(string); !ok || len(allowed) > 0 && !slices.Contains(allowed, s) {
			return errors.New("may only contain  " + strings.Join(allowed, ", "))
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
