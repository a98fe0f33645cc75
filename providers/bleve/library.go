package bleve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/folder"
	"github.com/pexctl/pex/providers/bleve/passage"
	"github.com/pexctl/pex/providers/bleve/shelf"
	"github.com/pexctl/pex/providers/bleve/shelf/index"
)

// version changes whenever the same file would be indexed differently.
const version = 2

// maxTaken is how often a question is asked of an index that turns out broken:
// of the one that was kept, of the one made in its place, of one in memory.
const maxTaken = 4

// library is the index of a folder, kept up with its files. What it holds is
// read and changed by who holds its lock.
type library struct {
	held    chan struct{} // holds a value while nobody has the lock
	chunk   passage.Options
	pattern folder.Glob
	shelf   *shelf.Shelf
	vectors index.Vectors

	index  *index.Index // while it is on loan
	unread int          // files that could not be read
}

// newLibrary prepares the index of a folder; it opens nothing. vectors says
// whose vectors are kept in it.
func newLibrary(c *Config, dir, cache, vectors string) (*library, error) {
	mapping, err := index.Mapping(c.Language)
	if err != nil {
		return nil, err
	}
	pattern, err := folder.ParseGlob(c.Pattern)
	if err != nil {
		return nil, err
	}
	l := &library{
		held: make(chan struct{}, 1), pattern: pattern,
		chunk: passage.Options{Size: c.Chunk.Size, Lines: c.Chunk.Lines, Overlap: c.Chunk.Overlap},
	}
	l.held <- struct{}{}
	if cache != "" {
		// Texts and numbers always marshal.
		id, _ := json.Marshal([]any{version, dir, c.Pattern, c.Exclude, c.Language, c.Chunk, vectors})
		sum := sha256.Sum256(id)
		cache = filepath.Join(cache, "retrieve", hex.EncodeToString(sum[:12]))
	}
	l.shelf = shelf.At(cache, mapping)
	return l, nil
}

// use does something with the index, after the others that search. When the
// index breaks it is done again with a new one.
func (l *library) use(ctx context.Context, progress func(string), do func() error) error {
	select {
	case <-l.held:
		defer func() { l.held <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for tries := 1; ; tries++ {
		loan, err := l.shelf.Take(ctx, progress)
		if err != nil {
			return err
		}
		l.index = loan.Index
		err = do()
		l.index = nil
		loan.Return(err)
		if !errors.Is(err, index.ErrBroken) || tries == maxTaken {
			return err
		}
	}
}

// notes tell what is not in the index.
func (l *library) notes() (out []string) {
	var counts [index.TooLarge + 1]int
	for _, f := range l.index.Files() {
		counts[f.Left]++
	}
	if n := counts[index.NoText]; n > 0 {
		out = append(out, text.Count(n, "file")+" not searched: no text")
	}
	if n := counts[index.TooLarge]; n > 0 {
		out = append(out, fmt.Sprintf("%s not searched: larger than %d MB", text.Count(n, "file"), maxFile>>20))
	}
	if l.unread > 0 {
		out = append(out, text.Count(l.unread, "file")+" not searched: they cannot be read")
	}
	return out
}
