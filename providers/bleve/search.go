package bleve

import (
	"context"
	"errors"

	"github.com/pexctl/pex/internal/sandboxfs"
	"github.com/pexctl/pex/providers/bleve/indexcache/index"
)

// candidates is how many passages each search contributes to the fusion. It is larger than a result because a passage
// that ranks low in one search may rank first in the other.
const candidates = 100

// request is one search, and what the call may use for it.
type request struct {
	tree     *sandboxfs.Tree
	query    string
	limit    int
	embed    embed // nil = no embeddings available
	progress func(string)
}

// search updates the index and finds passages.
func (t *retrieve) search(ctx context.Context, q request) (a *answer, err error) {
	err = t.corpus.withIndex(ctx, q.progress, func() error {
		a = &answer{limit: q.limit}
		if err := t.corpus.refresh(ctx, q.tree, q.progress); err != nil {
			return err
		}
		a.files = len(t.corpus.index.Files())
		vector, err := t.vector(ctx, a, &q)
		if err != nil {
			return err
		}
		a.notes = append(a.notes, t.corpus.notes()...)
		a.hits, err = t.corpus.best(ctx, q.query, vector, t.config.Embeddings.Weight, q.limit)
		return err
	})
	return a, err
}

// vector returns the vector of the query. It returns nil for a full-text search, and adds a note if embeddings are
// configured but cannot be used.
func (t *retrieve) vector(ctx context.Context, a *answer, q *request) ([]float32, error) {
	if t.embeddings == nil || t.corpus.index.Passages() == 0 {
		return nil, nil
	}
	vector, err := t.embeddings.prepare(ctx, t.corpus, q)
	if err == nil {
		return vector, nil
	}
	if ctx.Err() != nil || errors.Is(err, index.ErrBroken) {
		return nil, err
	}
	a.notes = append(a.notes, "full-text search only: "+err.Error())
	return nil, nil
}

// best returns the best passages: by full-text search if vector is nil, otherwise by both searches fused.
func (l *corpus) best(ctx context.Context, query string, vector []float32, weight float64, limit int) ([]index.Hit, error) {
	if vector == nil {
		return l.index.Words(ctx, query, limit)
	}
	words, err := l.index.Words(ctx, query, candidates)
	if err != nil {
		return nil, err
	}
	similar, err := l.index.Similar(ctx, &l.vectors, vector, candidates)
	return index.Fuse(words, similar, weight, limit), err
}
