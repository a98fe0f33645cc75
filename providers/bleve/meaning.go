package bleve

import (
	"context"
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine/tool"
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

// embed is tool.Call.Embed.
type embed func(ctx context.Context, texts []string, rest int) ([][]float64, error)

// meaning is the search by vectors.
type meaning struct {
	llm string
	id  string
	why error // why there are no vectors
}

// newMeaning finds the llm; nil = the author wants none.
func newMeaning(c *Config, s tool.Settings) *meaning {
	m := &meaning{llm: c.Embeddings.LLM.Name}
	switch {
	case m.llm == "" || c.Embeddings.Weight == 0:
		return nil
	case s.Embeds == nil:
		m.why = fmt.Errorf("the llm %s is not there", m.llm)
	default:
		m.id, m.why = s.Embeds(m.llm)
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
// With an error there is no vector. The question goes first, and with it how much
// is going to follow: whoever pays is asked once.
func (m *meaning) prepare(ctx context.Context, l *library, q *asked) ([]float32, error) {
	switch n := l.index.Passages(); {
	case m.why != nil:
		return nil, m.why
	case q.embed == nil:
		return nil, fmt.Errorf("the llm %s is not there", m.llm)
	case n > maxEmbedded:
		return nil, fmt.Errorf("the files have %d passages, and %d are the most that vectors are made of", n, maxEmbedded)
	}
	fresh := l.gaps(q.tree, func(dimensions int) bool { return dimensions == 0 })
	vectors, err := m.vectors(ctx, q.embed, []string{q.query}, fresh.bytes)
	if err != nil {
		return nil, err
	}
	if n := len(vectors[0]); l.has(func(dimensions int) bool { return dimensions != 0 && dimensions != n }) {
		fresh = l.gaps(q.tree, func(dimensions int) bool { return dimensions != n })
	}
	if err := m.complete(ctx, l, q, fresh, len(vectors[0])); err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// vectors asks the llm and checks what it gives; rest is how many bytes of text
// follow.
func (m *meaning) vectors(ctx context.Context, by embed, texts []string, rest int) ([][]float32, error) {
	raw, err := by(ctx, texts, rest)
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

// complete gives the files vectors that lack them. What was made before an error
// is kept.
func (m *meaning) complete(ctx context.Context, l *library, q *asked, missing gaps, dimensions int) (err error) {
	if len(missing.files) == 0 {
		return nil
	}
	if len(missing.files) >= manyFiles {
		q.progress(fmt.Sprintf("making vectors of %d files", len(missing.files)))
	}
	to := giving{m, l, q.embed, dimensions, missing.bytes}
	var b batch
	for _, path := range missing.files {
		if b.add(q.tree, l, path); len(b.texts) < maxBatch {
			continue
		}
		if err = to.give(ctx, b); err != nil {
			break
		}
		b = batch{}
	}
	if err == nil {
		err = to.give(ctx, b)
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
		b.texts = append(b.texts, sent(p))
	}
	b.files = append(b.files, indexed{file, passages})
}

// sent is a passage as the llm gets it: below its heading.
func sent(p index.Passage) string {
	text := clean(p.Text)
	if p.Place.Heading != "" {
		text = p.Place.Heading + "\n" + text
	}
	return text
}
