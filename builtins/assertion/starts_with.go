package assertion

import (
	"context"
	"errors"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// StartsWithConfig configures the check starts_with.
type StartsWithConfig struct {
	Value      component.Template  `yaml:"value" required:"true" vars:"case,parameters" doc:"Text that the answer must start with, ignoring leading whitespace."`
	Path       component.FilterRef `yaml:"path" doc:"JSONPath of the single output value to check instead of the response."`
	IgnoreCase bool                `yaml:"ignore_case" doc:"Whether to ignore case."`
}

// StartsWith checks the start of the answer.
var StartsWith = component.New("starts_with", "The answer starts with a text.",
	func() StartsWithConfig { return StartsWithConfig{} }, newStartsWith)

func newStartsWith(c *StartsWithConfig, _ trial.CheckSettings) (trial.Check, error) {
	return onEdge(c.Value, c.Path, c.IgnoreCase, "begin", strings.HasPrefix)
}

// onEdge creates a check of the start or the end of a text.
func onEdge(t component.Template, path component.FilterRef, ignoreCase bool, verb string, has func(text, edge string) bool) (trial.Check, error) {
	if t.Text == "" {
		return nil, errors.New("value is empty, so every answer would " + verb + " with it")
	}
	return onText{path, func(_ context.Context, s *trial.Subject, text string) (trial.Mark, error) {
		want, err := renderNonEmpty(t, s)
		if err != nil {
			return trial.Mark{}, err
		}
		want = strings.TrimSpace(want)
		if has(foldCaseIf(ignoreCase, strings.TrimSpace(text)), foldCaseIf(ignoreCase, want)) {
			return boolean(true, want, text, "the answer "+verb+"s with "+brief(want)), nil
		}
		return boolean(false, want, text, "the answer does not "+verb+" with "+brief(want)), nil
	}}, nil
}
