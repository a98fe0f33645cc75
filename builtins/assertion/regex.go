package assertion

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// RegexConfig configures the check regex.
type RegexConfig struct {
	Pattern    component.Template  `yaml:"pattern" required:"true" vars:"case,parameters" doc:"Regular expression (RE2) that must match somewhere in the answer. ^ and $ match its start and end, or with (?m) those of a line; with (?s) a dot matches line ends."`
	Path       component.FilterRef `yaml:"path" doc:"JSONPath of the single output value to check instead of the response."`
	IgnoreCase bool                `yaml:"ignore_case" doc:"Whether to ignore case."`
}

// Regex checks that a regular expression matches.
var Regex = component.New("regex", "A regular expression matches the answer. Matching time is linear in the length of the text.",
	func() RegexConfig { return RegexConfig{} }, newRegex)

// maxPattern is the maximum length of a pattern, which may come from a dataset.
const maxPattern = 10_000

func newRegex(c *RegexConfig, _ trial.CheckSettings) (trial.Check, error) {
	if c.Pattern.Text == "" {
		return nil, errors.New("pattern is empty, so every answer would match")
	}
	var fixed *regexp.Regexp
	if !hasRefs(c.Pattern) {
		var err error
		if fixed, err = compile(c.Pattern.Render(noLookup), c.IgnoreCase); err != nil {
			return nil, err
		}
	}
	return onText{c.Path, func(_ context.Context, s *trial.Subject, text string) (trial.Mark, error) {
		re := fixed
		if re == nil {
			pattern, err := renderNonEmpty(c.Pattern, s)
			if err != nil {
				return trial.Mark{}, err
			}
			if re, err = compile(pattern, c.IgnoreCase); err != nil {
				return trial.Mark{}, err
			}
		}
		at := re.FindStringIndex(text)
		if at == nil {
			return boolean(false, re.String(), text, "the answer does not match "+brief(re.String())), nil
		}
		return boolean(true, re.String(), text, "the answer matches "+brief(re.String())+" with "+brief(text[at[0]:at[1]])), nil
	}}, nil
}

func compile(pattern string, ignoreCase bool) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes, the limit is %d", len(pattern), maxPattern)
	}
	if ignoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("%w; patterns use RE2 syntax, without look-around and backreferences", err)
	}
	return re, nil
}

// noLookup is a lookup without variables.
func noLookup(string, string) (any, bool) { return nil, false }

// hasRefs reports whether a template contains references.
func hasRefs(t component.Template) bool {
	found := false
	t.Render(func(string, string) (any, bool) { found = true; return nil, false })
	return found
}
