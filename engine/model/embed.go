package model

import (
	"context"
)

// Embedder is a Model that makes embeddings. Vectors are in the order of the texts and
// have equal lengths. The error is a *Error if the cause is known.
type Embedder interface {
	Embed(ctx context.Context, texts []string) (vectors [][]float64, used Tokens, err error)
}
