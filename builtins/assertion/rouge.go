package assertion

import (
	"context"
	"errors"
	"fmt"

	"github.com/pexctl/pex/builtins/assertion/measure"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// RougeConfig configures the check rouge.
type RougeConfig struct {
	Value component.Template  `yaml:"value" required:"true" vars:"case,parameters" doc:"Reference text."`
	N     string              `yaml:"n" enum:"1|2|l" doc:"What is compared: words, word pairs, or the longest common subsequence of words."`
	Min   float64             `yaml:"min" min:"0" max:"1" doc:"Minimum score to pass."`
	Path  component.FilterRef `yaml:"path" doc:"JSONPath of the single output value to check instead of the response."`
}

// Rouge checks the word overlap of the answer and a text.
var Rouge = component.New("rouge", "Word overlap of the answer with a text: ROUGE-1, ROUGE-2 or ROUGE-L as F1 (Lin 2004), lower-cased, without stemming. Only the first 20,000 words of long texts count.",
	func() RougeConfig { return RougeConfig{N: "1", Min: 0.5} }, newRouge)

func newRouge(c *RougeConfig, _ trial.CheckSettings) (trial.Check, error) {
	if c.Value.Text == "" {
		return nil, errors.New("rouge requires value")
	}
	return onText{c.Path, func(_ context.Context, s *trial.Subject, text string) (trial.Mark, error) {
		expected, err := render(c.Value, s)
		if err != nil {
			return trial.Mark{}, err
		}
		want, cut := measure.Words(expected)
		got, alsoCut := measure.Words(text)
		if len(want) == 0 {
			return trial.Mark{}, fmt.Errorf("value %s contains no words", brief(expected))
		}
		score := c.score(want, got)
		message := fmt.Sprintf("ROUGE-%s is %s, the least is %s", c.N, formatNumber(score), formatNumber(c.Min))
		if cut || alsoCut {
			message += fmt.Sprintf(" (of the first %d words)", measure.MaxWords)
		}
		return scored(score >= c.Min, score, expected, text, message), nil
	}}, nil
}

func (c *RougeConfig) score(want, got []string) float64 {
	switch c.N {
	case "2":
		return measure.RougeN(2, want, got)
	case "l":
		return measure.RougeL(want, got)
	default:
		return measure.RougeN(1, want, got)
	}
}
