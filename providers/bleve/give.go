package bleve

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/pexctl/pex/internal/folder"
)

// gaps are files that lack vectors, in order, and how many bytes of text these
// are made of.
type gaps struct {
	files []string
	bytes int
}

// gaps finds the files whose vectors have a number of dimensions that is wrong;
// it is 0 where they have none.
func (l *library) gaps(tree *folder.Tree, wrong func(dimensions int) bool) (out gaps) {
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

// has says whether a file has passages whose vectors are wrong.
func (l *library) has(wrong func(dimensions int) bool) bool {
	for _, f := range l.index.Files() {
		if f.Passages > 0 && wrong(f.Dimensions) {
			return true
		}
	}
	return false
}

// giving is how files get their vectors.
type giving struct {
	meaning    *meaning
	library    *library
	by         embed
	dimensions int
	left       int // bytes of text that are still to be sent
}

// give makes the vectors of some files and indexes these with them.
func (g *giving) give(ctx context.Context, b batch) error {
	var made [][]float32
	for part := range slices.Chunk(b.texts, maxAtOnce) {
		for _, text := range part {
			g.left -= len(text)
		}
		vectors, err := g.meaning.vectors(ctx, g.by, part, max(0, g.left))
		if err != nil {
			return err
		}
		if len(vectors[0]) != g.dimensions {
			return fmt.Errorf("the llm %s made vectors of different lengths", g.meaning.llm)
		}
		made = append(made, vectors...)
	}
	for _, f := range b.files {
		for i := range f.passages {
			f.passages[i].Vector, made = made[0], made[1:]
		}
		if err := g.library.index.Put(f.file, f.passages); err != nil {
			return err
		}
	}
	return nil
}
