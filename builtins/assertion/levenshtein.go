package assertion

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/builtins/assertion/measure"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// LevenshteinConfig configures the check levenshtein.
type LevenshteinConfig struct {
	Value      component.Template  `yaml:"value" required:"true" vars:"case,parameters" doc:"Reference text."`
	Max        *int                `yaml:"max" min:"0" doc:"Maximum number of characters inserted, deleted or replaced."`
	Min        *float64            `yaml:"min" min:"0" max:"1" doc:"Minimum similarity: 1 - distance / length of the longer text. Default: 0.8 if max is not set."`
	Path       component.FilterRef `yaml:"path" doc:"JSONPath of the single output value to check instead of the response."`
	IgnoreCase bool                `yaml:"ignore_case" doc:"Whether to ignore case."`
}

// Levenshtein checks the edit distance between the answer and a text.
var Levenshtein = component.New("levenshtein", "The edit distance between the answer and a text, ignoring surrounding whitespace. Texts that differ over more than 50,000 characters are an error of the check, unless their lengths alone decide.",
	func() LevenshteinConfig { return LevenshteinConfig{} }, newLevenshtein)

func newLevenshtein(c *LevenshteinConfig, _ trial.CheckSettings) (trial.Check, error) {
	limits := *c
	switch {
	case c.Value.Text == "":
		return nil, errors.New("levenshtein requires value")
	case c.Max == nil && c.Min == nil:
		least := 0.8
		limits.Min = &least
	}
	return onText{c.Path, func(_ context.Context, s *trial.Subject, text string) (trial.Mark, error) {
		expected, err := render(c.Value, s)
		if err != nil {
			return trial.Mark{}, err
		}
		return limits.mark(strings.TrimSpace(expected), strings.TrimSpace(text))
	}}, nil
}

func (c *LevenshteinConfig) mark(expected, actual string) (trial.Mark, error) {
	n, exact := measure.Distance(foldCaseIf(c.IgnoreCase, expected), foldCaseIf(c.IgnoreCase, actual))
	longer := max(utf8.RuneCountInString(expected), utf8.RuneCountInString(actual), 1)
	similarity := 1 - float64(n)/float64(longer)
	pass := (c.Max == nil || n <= *c.Max) && (c.Min == nil || similarity >= *c.Min)
	if pass && !exact {
		return trial.Mark{}, fmt.Errorf("the texts differ over more than %d characters, which is too long to compare; use rouge or similarity for long texts", measure.MaxLetters)
	}
	message := fmt.Sprintf("the distance is %d, the similarity %s", n, formatNumber(similarity))
	if !exact {
		message = fmt.Sprintf("the distance is at least %d, the similarity at most %s", n, formatNumber(similarity))
	}
	if c.Max != nil {
		message += fmt.Sprintf("; the greatest distance is %d", *c.Max)
	}
	if c.Min != nil {
		message += "; the least similarity is " + formatNumber(*c.Min)
	}
	m := scored(pass, similarity, expected, actual, message)
	if !pass {
		m.Diff = diff(expected, actual)
	}
	return m, nil
}
