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
	"github.com/pexctl/pex/internal/sandboxfs"
	"github.com/pexctl/pex/providers/bleve/chunk"
	"github.com/pexctl/pex/providers/bleve/indexcache"
	"github.com/pexctl/pex/providers/bleve/indexcache/index"
	"github.com/pexctl/pex/providers/bleve/indexcache/index/word"
)

// version must change whenever the same file would be indexed differently.
const version = 3

// maxAttempts is how often a query is tried with broken indexes: the stored one, its
// replacement, and one in memory.
const maxAttempts = 4

// corpus is the index of a folder, updated with its files. Only the holder of its lock
// may access the index.
type corpus struct {
	lock    chan struct{} // holds a value while unlocked
	chunk   chunk.Options
	pattern sandboxfs.Glob
	cache   *indexcache.Cache
	vectors index.Vectors

	index      *index.Index // set while leased
	unreadable int          // number of unreadable files
}

// newCorpus prepares the index of a folder; it opens nothing. vectors identifies the
// model of the stored vectors.
func newCorpus(c *Config, dir, cache, vectors string) (*corpus, error) {
	analyzer, err := word.New(c.Language)
	if err != nil {
		return nil, err
	}
	pattern, err := sandboxfs.ParseGlob(c.Pattern)
	if err != nil {
		return nil, err
	}
	l := &corpus{
		lock: make(chan struct{}, 1), pattern: pattern,
		chunk: chunk.Options{Size: c.Chunk.Size, Lines: c.Chunk.Lines, Overlap: c.Chunk.Overlap},
	}
	l.lock <- struct{}{}
	if cache != "" {
		// strings and numbers always encode
		id, _ := json.Marshal([]any{version, dir, c.Pattern, c.Exclude, c.Language, c.Chunk, vectors})
		sum := sha256.Sum256(id)
		cache = filepath.Join(cache, "retrieve", hex.EncodeToString(sum[:12]))
	}
	l.cache = indexcache.New(cache, analyzer)
	return l, nil
}

// withIndex calls do with the index, one caller at a time. If the index is broken it
// calls do again with a new one.
func (l *corpus) withIndex(ctx context.Context, progress func(string), do func() error) error {
	select {
	case <-l.lock:
		defer func() { l.lock <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for tries := 1; ; tries++ {
		lease, err := l.cache.Acquire(ctx, progress)
		if err != nil {
			return err
		}
		l.index = lease.Index
		err = do()
		l.index = nil
		lease.Release(err)
		if !errors.Is(err, index.ErrBroken) || tries == maxAttempts {
			return err
		}
	}
}

// notes returns what is not in the index.
func (l *corpus) notes() (out []string) {
	var counts [index.TooLarge + 1]int
	for _, f := range l.index.Files() {
		counts[f.Skip]++
	}
	if n := counts[index.NoText]; n > 0 {
		out = append(out, text.Count(n, "file")+" not searched: not a text file")
	}
	if n := counts[index.TooLarge]; n > 0 {
		out = append(out, fmt.Sprintf("%s not searched: larger than %d MB", text.Count(n, "file"), maxFile>>20))
	}
	if l.unreadable > 0 {
		out = append(out, text.Count(l.unreadable, "file")+" not searched: unreadable")
	}
	return out
}
