package assertion

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// RegexConfig is the keys of regex.
type RegexConfig struct {
	Pattern    component.Template  `yaml:"pattern" required:"true" vars:"case,parameters" doc:"Regular expression (RE2) that must match somewhere in the answer. ^ and $ match its start and end, or with (?m) those of a line; with (?s) a dot matches line ends."`
	Path       component.FilterRef `yaml:"path" doc:"JSONPath of the single output value to check instead of the response."`
	IgnoreCase bool                `yaml:"ignore_case" doc:"Whether to ignore case."`
}

// Regex wants a regular expression to match.
var Regex = component.New("regex", "A regular expression matches the answer. Matching time is linear in the length of the text.",
	func() RegexConfig { return RegexConfig{} }, newRegex)

// maxPattern is how long a pattern may be: a dataset may hold any.
const maxPattern = 10_000

func newRegex(c *RegexConfig, _ trial.CheckSettings) (trial.Check, error) {
	if c.Pattern.Text == "" {
		return nil, errors.New("the pattern is empty: every answer would match it")
	}
	var fixed *regexp.Regexp
	if !refers(c.Pattern) {
		var err error
		if fixed, err = compiled(c.Pattern.Render(nothing), c.IgnoreCase); err != nil {
			return nil, err
		}
	}
	return onText{c.Path, func(_ context.Context, s *trial.Subject, text string) (trial.Mark, error) {
		re := fixed
		if re == nil {
			pattern, err := wanted(c.Pattern, s)
			if err != nil {
				return trial.Mark{}, err
			}
			if re, err = compiled(pattern, c.IgnoreCase); err != nil {
				return trial.Mark{}, err
			}
		}
		at := re.FindStringIndex(text)
		if at == nil {
			return says(false, re.String(), text, "the answer does not match "+brief(re.String())), nil
		}
		return says(true, re.String(), text, "the answer matches "+brief(re.String())+" with "+brief(text[at[0]:at[1]])), nil
	}}, nil
}

func compiled(pattern string, ignoreCase bool) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes; the most is %d", len(pattern), maxPattern)
	}
	if ignoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("%w; it is an RE2 expression: no look-around, no back references", err)
	}
	return re, nil
}

// nothing is a lookup in which nothing has a name.
func nothing(string, string) (any, bool) { return nil, false }

// refers says whether a template refers to anything.
func refers(t component.Template) bool {
	found := false
	t.Render(func(string, string) (any, bool) { found = true; return nil, false })
	return found
}
