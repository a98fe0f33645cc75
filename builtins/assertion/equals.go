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

// EqualsConfig is the keys of equals.
type EqualsConfig struct {
	Value      component.Value     `yaml:"value" required:"true" vars:"case,parameters" doc:"Expected answer: text, or any JSON value. Strings are templates."`
	Path       component.FilterRef `yaml:"path" doc:"JSONPath of the single output value to check instead of the response."`
	IgnoreCase bool                `yaml:"ignore_case" doc:"Whether to ignore case."`
}

// Equals wants an answer to be a value.
var Equals = component.New("equals", "The answer equals a value. Texts are compared without surrounding whitespace, JSON by value.",
	func() EqualsConfig { return EqualsConfig{} }, newEquals)

func newEquals(c *EqualsConfig, _ trial.CheckSettings) (trial.Check, error) {
	if c.Value.IsZero() {
		return nil, errors.New("equals wants a value")
	}
	return onText{c.Path, func(_ context.Context, s *trial.Subject, text string) (trial.Mark, error) {
		want, err := filledValue(c.Value, s)
		if err != nil {
			return trial.Mark{}, err
		}
		expected, actual := strings.TrimSpace(jsonvalue.Text(want)), strings.TrimSpace(text)
		if alike(want, text, c.IgnoreCase) {
			return says(true, expected, actual, "the answer is as expected"), nil
		}
		m := says(false, expected, actual, "the answer is not as expected")
		m.Diff = diff(expected, actual)
		return m, nil
	}}, nil
}

// alike says whether an answer is a value: the same text, or the same JSON.
func alike(want any, answer string, ignoreCase bool) bool {
	expected, actual := strings.TrimSpace(jsonvalue.Text(want)), strings.TrimSpace(answer)
	if expected == actual || ignoreCase && folded(expected) == folded(actual) {
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

// folded is a text for comparing without regard to capital letters.
func folded(s string) string { return strings.ToLower(s) }

// foldedIf is folded where that is wanted.
func foldedIf(fold bool, s string) string {
	if fold {
		return folded(s)
	}
	return s
}
