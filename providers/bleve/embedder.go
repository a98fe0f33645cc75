package bleve

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/pexctl/pex/internal/sandboxfs"
)

// missingVectors lists files without vectors, in order, and the size of their texts.
type missingVectors struct {
	files []string
	bytes int
}

// missing finds the files whose vectors have the wrong number of dimensions. Files without vectors have 0.
func (l *corpus) missing(tree *sandboxfs.Tree, wrong func(dimensions int) bool) (out missingVectors) {
	files := l.index.Files()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f := files[path]
		if f.Passages == 0 || !wrong(f.Dimensions) {
			continue
		}
		out.files = append(out.files, path)
		var b batch
		b.add(tree, l, path)
		for _, text := range b.texts {
			out.bytes += len(text)
		}
	}
	return out
}

// hasFiles reports whether a file has passages with wrong vectors.
func (l *corpus) hasFiles(wrong func(dimensions int) bool) bool {
	for _, f := range l.index.Files() {
		if f.Passages > 0 && wrong(f.Dimensions) {
			return true
		}
	}
	return false
}

// embedder adds vectors to files.
type embedder struct {
	embeddings *embeddings
	corpus     *corpus
	embed      embed
	dimensions int
	remaining  int // bytes of text not sent yet
}

// embedFiles creates the vectors of the files in a batch and indexes them.
func (g *embedder) embedFiles(ctx context.Context, b batch) error {
	var all [][]float32
	for part := range slices.Chunk(b.texts, maxAtOnce) {
		for _, text := range part {
			g.remaining -= len(text)
		}
		vectors, err := g.embeddings.vectors(ctx, g.embed, part, max(0, g.remaining))
		if err != nil {
			return err
		}
		if len(vectors[0]) != g.dimensions {
			return fmt.Errorf("llm %s returned vectors of different lengths", g.embeddings.llm)
		}
		all = append(all, vectors...)
	}
	for _, f := range b.files {
		for i := range f.passages {
			f.passages[i].Vector, all = all[0], all[1:]
		}
		if err := g.corpus.index.Put(f.file, f.passages); err != nil {
			return err
		}
	}
	return nil
}
