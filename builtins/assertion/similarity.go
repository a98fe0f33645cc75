package assertion

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/builtins/assertion/measure"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// SimilarityConfig configures the check similarity.
type SimilarityConfig struct {
	Value component.Template  `yaml:"value" required:"true" vars:"case,parameters" doc:"Reference text."`
	Min   float64             `yaml:"min" min:"0" max:"1" doc:"Minimum cosine similarity to pass. Typical values differ between models: look at some scores first."`
	Path  component.FilterRef `yaml:"path" doc:"JSONPath of the single output value to check instead of the response."`
}

// Similarity checks the semantic similarity of the answer and a text.
var Similarity = component.New("similarity", "Semantic similarity of the answer and a text: the cosine of their embeddings by the suite's embed LLM.",
	func() SimilarityConfig { return SimilarityConfig{Min: 0.8} }, newSimilarity)

func newSimilarity(c *SimilarityConfig, s trial.CheckSettings) (trial.Check, error) {
	switch {
	case c.Value.Text == "":
		return nil, errors.New("similarity requires value")
	case s.Embedder == nil:
		return nil, errors.New("similarity requires embeddings: write embed: {llm: NAME} in the suite, with an embedding model")
	}
	return onText{c.Path, func(ctx context.Context, subject *trial.Subject, text string) (trial.Mark, error) {
		expected, err := renderNonEmpty(c.Value, subject)
		if err != nil {
			return trial.Mark{}, err
		}
		if strings.TrimSpace(text) == "" {
			return boolean(false, expected, text, "the answer is empty"), nil
		}
		return c.mark(ctx, &s, expected, text)
	}}, nil
}

func (c *SimilarityConfig) mark(ctx context.Context, s *trial.CheckSettings, expected, text string) (trial.Mark, error) {
	vectors, used, err := s.Embedder.Embed(ctx, []string{expected, text})
	if err != nil {
		return trial.Mark{}, fmt.Errorf("embed: %w", err)
	}
	spent := trial.Mark{Tokens: used.Total(), Cost: s.EmbedCost.Of(used)}
	if len(vectors) != 2 || len(vectors[0]) != len(vectors[1]) {
		return spent, errors.New("embed: the model did not return two vectors of the same length")
	}
	cosine := measure.Cosine(vectors[0], vectors[1])
	m := scored(cosine >= c.Min, cosine, expected, text, "the similarity is "+formatNumber(cosine)+", the least is "+formatNumber(c.Min))
	m.Tokens, m.Cost = spent.Tokens, spent.Cost
	return m, nil
}
