package bleve

import (
	"context"
	"errors"

	"github.com/pexctl/pex/internal/sandboxfs"
	"github.com/pexctl/pex/providers/bleve/indexcache/index"
)

// candidates is how many passages each search contributes to the fusion: what one ranks
// low, the other may rank first.
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

// vector returns the vector of the query; nil = full-text search only, with a note if the
// author configured more.
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
	a.notes = append(a.notes, "searched by words alone: "+err.Error())
	return nil, nil
}

// best finds passages by words, and by a vector if there is one.
func (l *corpus) best(ctx context.Context, query string, vector []float32, weight float64, most int) ([]index.Hit, error) {
	if vector == nil {
		return l.index.Words(ctx, query, most)
	}
	words, err := l.index.Words(ctx, query, candidates)
	if err != nil {
		return nil, err
	}
	like, err := l.index.Similar(ctx, &l.vectors, vector, candidates)
	return index.Fuse(words, like, weight, most), err
}
