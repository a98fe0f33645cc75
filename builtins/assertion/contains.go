package assertion

import (
	"context"
	"errors"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/trial"
)

// ContainsConfig configures the check contains.
type ContainsConfig struct {
	Value      component.Template   `yaml:"value" vars:"case,parameters" doc:"Text that the answer must contain."`
	Any        []component.Template `yaml:"any" vars:"case,parameters" doc:"Texts of which the answer must contain at least one."`
	All        []component.Template `yaml:"all" vars:"case,parameters" doc:"Texts that the answer must all contain. The score is the fraction found."`
	Path       component.FilterRef  `yaml:"path" doc:"JSONPath of the single output value to check instead of the response."`
	IgnoreCase bool                 `yaml:"ignore_case" doc:"Whether to ignore case."`
}

// Contains checks that the answer contains texts.
var Contains = component.New("contains", "The answer contains a text, any of several, or all of them.",
	func() ContainsConfig { return ContainsConfig{} }, newContains)

func newContains(c *ContainsConfig, _ trial.CheckSettings) (trial.Check, error) {
	texts, all := c.All, true
	switch {
	case c.Value.Text != "" && len(c.Any)+len(c.All) == 0:
		texts = []component.Template{c.Value}
	case c.Value.Text == "" && len(c.Any) > 0 && len(c.All) == 0:
		texts, all = c.Any, false
	case c.Value.Text != "" || len(c.Any) > 0 || len(c.All) == 0:
		return nil, errors.New("contains requires exactly one of value, any and all")
	}
	return onText{c.Path, func(_ context.Context, s *trial.Subject, text string) (trial.Mark, error) {
		searched := foldCaseIf(c.IgnoreCase, text)
		var found, lacking []string
		for _, t := range texts {
			want, err := renderNonEmpty(t, s)
			if err != nil {
				return trial.Mark{}, err
			}
			if strings.Contains(searched, foldCaseIf(c.IgnoreCase, want)) {
				found = append(found, want)
			} else {
				lacking = append(lacking, want)
			}
		}
		return containing(text, found, lacking, all), nil
	}}, nil
}

// containing returns the mark for an answer with some of the texts.
func containing(text string, found, lacking []string, all bool) trial.Mark {
	expected := strings.Join(append(append([]string(nil), found...), lacking...), "\n")
	switch {
	case !all && len(found) > 0:
		return boolean(true, expected, text, "the answer contains "+joinTexts(found))
	case !all:
		return boolean(false, expected, text, "the answer contains none of "+joinTexts(lacking))
	case len(lacking) == 0:
		return boolean(true, expected, text, "the answer contains "+joinTexts(found))
	}
	share := float64(len(found)) / float64(len(found)+len(lacking))
	return scored(false, share, expected, text, "the answer does not contain "+joinTexts(lacking))
}

// joinTexts joins the first few texts for use in a sentence.
func joinTexts(texts []string) string {
	const most = 5
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = brief(t)
	}
	return text.Some(out, most)
}
