package assertion

import (
	"context"
	"errors"
	"strings"

	"github.com/pexctl/pex/dsl/schema"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/eval/trial"
)

// EqualsConfig configures the check equals.
type EqualsConfig struct {
	Value      component.Value     `yaml:"value" required:"true" vars:"case,parameters" doc:"Expected answer: text, or any JSON value. Strings are templates."`
	Path       component.FilterRef `yaml:"path" doc:"JSONPath of the single output value to check instead of the response."`
	IgnoreCase bool                `yaml:"ignore_case" doc:"Whether to ignore case."`
}

// Equals checks that the answer equals a value.
var Equals = component.New("equals", "The answer equals a value. Texts are compared without surrounding whitespace, JSON by value.",
	func() EqualsConfig { return EqualsConfig{} }, newEquals)

func newEquals(c *EqualsConfig, _ trial.CheckSettings) (trial.Check, error) {
	if c.Value.IsZero() {
		return nil, errors.New("equals requires value")
	}
	return onText{c.Path, func(_ context.Context, s *trial.Subject, text string) (trial.Mark, error) {
		want, err := renderValue(c.Value, s)
		if err != nil {
			return trial.Mark{}, err
		}
		expected, actual := strings.TrimSpace(jsonvalue.Text(want)), strings.TrimSpace(text)
		if equal(want, text, c.IgnoreCase) {
			return boolean(true, expected, actual, "the answer is as expected"), nil
		}
		m := boolean(false, expected, actual, "the answer is not as expected")
		m.Diff = diff(expected, actual)
		return m, nil
	}}, nil
}

// equal reports whether the answer is the same text or JSON as want.
func equal(want any, answer string, ignoreCase bool) bool {
	expected, actual := strings.TrimSpace(jsonvalue.Text(want)), strings.TrimSpace(answer)
	if expected == actual || ignoreCase && foldCase(expected) == foldCase(actual) {
		return true
	}
	got, err := schema.Decode([]byte(unfenced(actual)))
	if err != nil {
		return false
	}
	if _, isText := want.(string); !isText {
		return jsonvalue.Equal(want, got)
	}
	want, err = schema.Decode([]byte(expected))
	return err == nil && jsonvalue.Equal(want, got)
}

// foldCase returns s in lower case, for comparisons that ignore case.
func foldCase(s string) string { return strings.ToLower(s) }

// foldCaseIf returns foldCase(s) if fold is set, else s.
func foldCaseIf(fold bool, s string) string {
	if fold {
		return foldCase(s)
	}
	return s
}
