package bleve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/folder"
	"github.com/pexctl/pex/providers/bleve/shelf/index"
)

const (
	// maxEmbedded is how many passages get vectors: every question is compared
	// with each, and 20,000 vectors of 1,536 numbers are 120 MB.
	maxEmbedded = 20_000
	maxBatch    = 128 // texts sent at once, unless one file has more
	maxAtOnce   = 512 // texts of one file sent at once
)

// meaning is the search by vectors.
type meaning struct {
	llm string
	by  engine.Embedder
	id  string
	why error // why there are no vectors
}

// newMeaning finds the llm; nil = the author wants none.
func newMeaning(c *Config, s engine.ToolSettings) *meaning {
	m := &meaning{llm: c.Embeddings.LLM.Name}
	switch {
	case m.llm == "" || c.Embeddings.Weight == 0:
		return nil
	case s.Embed == nil:
		m.why = fmt.Errorf("the llm %s is not there", m.llm)
	default:
		m.by, m.id, m.why = s.Embed(m.llm)
	}
	return m
}

// identity says what the vectors depend on.
func (m *meaning) identity() string {
	if m == nil {
		return ""
	}
	return m.id
}

// prepare makes the vector of a question, and those of passages that have none.
// With an error there is no vector.
func (m *meaning) prepare(ctx context.Context, tree *folder.Tree, l *library, query string, progress func(string)) ([]float32, error) {
	if m.why != nil {
		return nil, m.why
	}
	if n := l.index.Passages(); n > maxEmbedded {
		return nil, fmt.Errorf("the files have %d passages, and %d are the most that vectors are made of", n, maxEmbedded)
	}
	vectors, err := m.vectors(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	if err := m.complete(ctx, tree, l, len(vectors[0]), progress); err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// vectors asks the llm and checks what it gives.
func (m *meaning) vectors(ctx context.Context, texts []string) ([][]float32, error) {
	raw, _, err := m.by.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("the llm %s makes no vectors: %w", m.llm, err)
	}
	if len(raw) != len(texts) {
		return nil, fmt.Errorf("the llm %s made %d vectors of %d texts", m.llm, len(raw), len(texts))
	}
	out := make([][]float32, len(raw))
	for i, v := range raw {
		if len(v) == 0 || len(v) != len(raw[0]) {
			return nil, fmt.Errorf("the llm %s made vectors of different lengths", m.llm)
		}
		out[i] = index.Unit(v)
	}
	return out, nil
}

// complete gives each file its vectors that has none of that many dimensions.
// What was made before an error is kept.
func (m *meaning) complete(ctx context.Context, tree *folder.Tree, l *library, dimensions int, progress func(string)) (err error) {
	missing := l.without(dimensions)
	if len(missing) == 0 {
		return nil
	}
	if len(missing) >= manyFiles {
		progress(fmt.Sprintf("making vectors of %d files", len(missing)))
	}
	var b batch
	for _, path := range missing {
		if b.add(tree, l, path); len(b.texts) < maxBatch {
			continue
		}
		if err = m.give(ctx, l, b, dimensions); err != nil {
			break
		}
		b = batch{}
	}
	if err == nil {
		err = m.give(ctx, l, b, dimensions)
	}
	return errors.Join(err, l.index.Flush())
}

// batch is whole files whose passages are sent together.
type batch struct {
	files []indexed
	texts []string
}

type indexed struct {
	file     index.File
	passages []index.Passage
}

// add adds a file. One that changed meanwhile is left to the next call.
func (b *batch) add(tree *folder.Tree, l *library, path string) {
	file, passages, err := l.read(tree, path)
	if was := l.index.Files()[path]; err != nil || file.Size != was.Size || file.Modified != was.Modified {
		return
	}
	for _, p := range passages {
		text := clean(p.Text)
		if p.Place.Heading != "" {
			text = p.Place.Heading + "\n" + text
		}
		b.texts = append(b.texts, text)
	}
	b.files = append(b.files, indexed{file, passages})
}

// give makes the vectors of some files and indexes these with them.
func (m *meaning) give(ctx context.Context, l *library, b batch, dimensions int) error {
	var made [][]float32
	for part := range slices.Chunk(b.texts, maxAtOnce) {
		vectors, err := m.vectors(ctx, part)
		if err != nil {
			return err
		}
		if len(vectors[0]) != dimensions {
			return fmt.Errorf("the llm %s made vectors of different lengths", m.llm)
		}
		made = append(made, vectors...)
	}
	for _, f := range b.files {
		for i := range f.passages {
			f.passages[i].Vector, made = made[0], made[1:]
		}
		if err := l.index.Put(f.file, f.passages); err != nil {
			return err
		}
	}
	return nil
}

// without lists the files that lack vectors of that many dimensions.
func (l *library) without(dimensions int) (out []string) {
	files := l.index.Files()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if f := files[path]; f.Passages > 0 && f.Dimensions != dimensions {
			out = append(out, path)
		}
	}
	return out
}
