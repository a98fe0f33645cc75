package bleve

import (
	"context"
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
	"github.com/pexctl/pex/providers/bleve/indexcache/index"
)

const (
	// maxEmbedded is the maximum number of passages with vectors. Each query is compared
	// with all of them, and 20,000 vectors of 1,536 numbers are 120 MB.
	maxEmbedded = 20_000
	maxBatch    = 128 // texts sent at once, unless one file has more
	maxAtOnce   = 512 // texts of one file sent at once
)

// embed is the type of tool.Call.Embed.
type embed func(ctx context.Context, texts []string, rest int) ([][]float64, error)

// embeddings searches by vectors.
type embeddings struct {
	llm string
	id  string
	err error // why there are no vectors
}

// newEmbeddings finds the LLM; it returns nil if embeddings are off.
func newEmbeddings(c *Config, s tool.Settings) *embeddings {
	m := &embeddings{llm: c.Embeddings.LLM.Name}
	switch {
	case m.llm == "" || c.Embeddings.Weight == 0:
		return nil
	case s.Embeds == nil:
		m.err = fmt.Errorf("llm %s is not available", m.llm)
	default:
		m.id, m.err = s.Embeds(m.llm)
	}
	return m
}

// identity identifies the model of the vectors.
func (m *embeddings) identity() string {
	if m == nil {
		return ""
	}
	return m.id
}

// prepare creates the missing vectors of passages and returns the vector of the query. It sends the query first, with
// the size of the texts to follow, so that the budget is checked once for all of them.
func (m *embeddings) prepare(ctx context.Context, l *corpus, q *request) ([]float32, error) {
	switch n := l.index.Passages(); {
	case m.err != nil:
		return nil, m.err
	case q.embed == nil:
		return nil, fmt.Errorf("llm %s is not available", m.llm)
	case n > maxEmbedded:
		return nil, fmt.Errorf("the files have %d passages; at most %d can be embedded", n, maxEmbedded)
	}
	fresh := l.missing(q.tree, func(dimensions int) bool { return dimensions == 0 })
	vectors, err := m.vectors(ctx, q.embed, []string{q.query}, fresh.bytes)
	if err != nil {
		return nil, err
	}
	if n := len(vectors[0]); l.hasFiles(func(dimensions int) bool { return dimensions != 0 && dimensions != n }) {
		fresh = l.missing(q.tree, func(dimensions int) bool { return dimensions != n })
	}
	if err := m.complete(ctx, l, q, fresh, len(vectors[0])); err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// vectors embeds texts and validates the result. rest is how many bytes of text follow in later calls.
func (m *embeddings) vectors(ctx context.Context, create embed, texts []string, rest int) ([][]float32, error) {
	raw, err := create(ctx, texts, rest)
	if err != nil {
		return nil, fmt.Errorf("llm %s cannot create embeddings: %w", m.llm, err)
	}
	if len(raw) != len(texts) {
		return nil, fmt.Errorf("llm %s returned %d vectors for %d texts", m.llm, len(raw), len(texts))
	}
	out := make([][]float32, len(raw))
	for i, v := range raw {
		if len(v) == 0 || len(v) != len(raw[0]) {
			return nil, fmt.Errorf("llm %s returned vectors of different lengths", m.llm)
		}
		out[i] = index.Unit(v)
	}
	return out, nil
}

// complete creates the missing vectors. After an error, the vectors created so far stay in the index.
func (m *embeddings) complete(ctx context.Context, l *corpus, q *request, missing missingVectors, dimensions int) (err error) {
	if len(missing.files) == 0 {
		return nil
	}
	if len(missing.files) >= manyFiles {
		q.progress(fmt.Sprintf("creating embeddings for %d files", len(missing.files)))
	}
	to := embedder{m, l, q.embed, dimensions, missing.bytes}
	var b batch
	for _, path := range missing.files {
		if b.add(q.tree, l, path); len(b.texts) < maxBatch {
			continue
		}
		if err = to.embedFiles(ctx, b); err != nil {
			break
		}
		b = batch{}
	}
	if err == nil {
		err = to.embedFiles(ctx, b)
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

// add adds a file, unless it changed meanwhile; the next call handles it then.
func (b *batch) add(tree *sandboxfs.Tree, l *corpus, path string) {
	file, passages, err := l.read(tree, path)
	if was := l.index.Files()[path]; err != nil || file.Size != was.Size || file.Modified != was.Modified {
		return
	}
	for _, p := range passages {
		b.texts = append(b.texts, embeddingText(p))
	}
	b.files = append(b.files, indexed{file, passages})
}

// embeddingText returns the text to embed for a passage: its heading and text.
func embeddingText(p index.Passage) string {
	text := normalizeText(p.Text)
	if p.Place.Heading != "" {
		text = p.Place.Heading + "\n" + text
	}
	return text
}
