package model

import (
	"context"
)

// Embedder is a capability of a Model: texts as vectors whose directions say
// what they mean. Vectors come in the order of the texts and all have the same
// length. An error is a *Error wherever the cause is known.
type Embedder interface {
	Embed(ctx context.Context, texts []string) (vectors [][]float64, used Tokens, err error)
}
