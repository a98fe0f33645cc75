package assertion

import (
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// EndsWithConfig configures the check ends_with.
type EndsWithConfig struct {
	Value      component.Template  `yaml:"value" required:"true" vars:"case,parameters" doc:"Text that the answer must end with, ignoring trailing whitespace."`
	Path       component.FilterRef `yaml:"path" doc:"JSONPath of the single output value to check instead of the response."`
	IgnoreCase bool                `yaml:"ignore_case" doc:"Whether to ignore case."`
}

// EndsWith checks the end of the answer.
var EndsWith = component.New("ends_with", "The answer ends with a text.",
	func() EndsWithConfig { return EndsWithConfig{} }, newEndsWith)

func newEndsWith(c *EndsWithConfig, _ trial.CheckSettings) (trial.Check, error) {
	return onEdge(c.Value, c.Path, c.IgnoreCase, "end", strings.HasSuffix)
}
