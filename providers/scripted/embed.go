package scripted

import (
	"context"
	"hash/fnv"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/model"
)

var _ model.Embedder = (*script)(nil)

// dimensions is the length of the vectors.
const dimensions = 256

// Embed implements model.Embedder for demos and tests: a vector counts the
// words of its text, each at a place that its hash says. Texts with the same
// words are alike, whatever they mean; nothing of a language is known here.
func (s *script) Embed(ctx context.Context, texts []string) (vectors [][]float64, used model.Tokens, err error) {
	if err := ctx.Err(); err != nil {
		return nil, used, err
	}
	vectors = make([][]float64, len(texts))
	for i, t := range texts {
		vectors[i] = bagOfWords(t)
		used.Input += model.EstimateTokens(utf8.RuneCountInString(t))
	}
	return vectors, used, nil
}

// bagOfWords is a vector of length 1; a text without words is all zero.
func bagOfWords(text string) []float64 {
	out := make([]float64, dimensions)
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		h := fnv.New32a()
		_, _ = h.Write([]byte(w)) // a hash takes everything
		out[h.Sum32()%dimensions]++
	}
	sum := 0.0
	for _, x := range out {
		sum += x * x
	}
	for i := range out {
		if sum > 0 {
			out[i] /= math.Sqrt(sum)
		}
	}
	return out
}
