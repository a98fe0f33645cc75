package bleve

import (
	"context"
	"errors"

	"github.com/pexctl/pex/internal/folder"
	"github.com/pexctl/pex/providers/bleve/shelf/index"
)

// candidates are how many passages each of two ways of searching gives when
// they are fused: what one places far down, the other may place first.
const candidates = 100

// asked is what is searched for in one call, and what the call may do for it.
type asked struct {
	tree     *folder.Tree
	query    string
	most     int
	embed    embed // nil = nobody makes vectors
	progress func(string)
}

// search finds the passages in files as they are now.
func (t *retrieve) search(ctx context.Context, q asked) (a *answer, err error) {
	err = t.library.use(ctx, q.progress, func() error {
		a = &answer{most: q.most}
		if err := t.library.refresh(ctx, q.tree, q.progress); err != nil {
			return err
		}
		a.files = len(t.library.index.Files())
		vector, err := t.vector(ctx, a, &q)
		if err != nil {
			return err
		}
		a.notes = append(a.notes, t.library.notes()...)
		a.hits, err = t.library.best(ctx, q.query, vector, t.config.Embeddings.Weight, q.most)
		return err
	})
	return a, err
}

// vector is what the question means; nil = words alone are searched, which is
// noted when the author wants more.
func (t *retrieve) vector(ctx context.Context, a *answer, q *asked) ([]float32, error) {
	if t.meaning == nil || t.library.index.Passages() == 0 {
		return nil, nil
	}
	vector, err := t.meaning.prepare(ctx, t.library, q)
	if err == nil {
		return vector, nil
	}
	if ctx.Err() != nil || errors.Is(err, index.ErrBroken) {
		return nil, err
	}
	a.notes = append(a.notes, "searched by words alone: "+err.Error())
	return nil, nil
}

// best finds passages by words, and by a vector when there is one.
func (l *library) best(ctx context.Context, query string, vector []float32, weight float64, most int) ([]index.Hit, error) {
	if vector == nil {
		return l.index.Words(ctx, query, most)
	}
	words, err := l.index.Words(ctx, query, candidates)
	if err != nil {
		return nil, err
	}
	like, err := l.index.Like(ctx, &l.vectors, vector, candidates)
	return index.Fuse(words, like, weight, most), err
}
