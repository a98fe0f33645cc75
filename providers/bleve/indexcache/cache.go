package indexcache

import (
	"context"
	"errors"
	"fmt"

	"github.com/blevesearch/bleve/v2/analysis"

	"github.com/pexctl/pex/providers/bleve/indexcache/index"
)

// maxBroken is how often an index is recreated in its folder.
const maxBroken = 2

// Cache stores one index. It is not safe for concurrent use, but several of the same
// folder may be used concurrently, also by other processes.
type Cache struct {
	dir      string
	analyzer analysis.Analyzer
	memory   *index.Index // nil = none
	broken   int
}

// Lease is the use of an index until it is released.
type Lease struct {
	Index *index.Index
	cache *Cache
	slot  *slot // nil = in memory
}

// New returns the cache in a folder, which is created on first use; with "" the index is
// in memory.
func New(dir string, a analysis.Analyzer) *Cache { return &Cache{dir: dir, analyzer: a} }

// Acquire returns the index for exclusive use; the caller must release it. If the index
// cannot be stored it uses one in memory and reports that.
func (s *Cache) Acquire(ctx context.Context, progress func(string)) (*Lease, error) {
	if s.dir == "" {
		return s.inMemory("", progress), nil
	}
	if s.broken >= maxBroken {
		return s.inMemory("the index was damaged repeatedly and is no longer stored; the next process rebuilds it", progress), nil
	}
	d, err := acquireSlot(ctx, s.dir)
	if err != nil {
		return nil, err
	}
	wait := patience
	if s.memory != nil {
		wait = 0
	}
	err = d.open(ctx, s.analyzer, wait)
	switch {
	case err == nil:
		s.memory = nil
		return &Lease{d.index, s, d}, nil
	case ctx.Err() != nil:
		d.release()
		return nil, ctx.Err()
	}
	d.release()
	if errors.Is(err, errBusy) {
		return s.inMemory("another process is using the index; building a temporary one in memory", progress), nil
	}
	return s.inMemory(fmt.Sprintf("the index cannot be stored and the next process rebuilds it: %v", err), progress), nil
}

// inMemory returns the in-memory index. When it creates one, it reports the reason to progress.
func (s *Cache) inMemory(why string, progress func(string)) *Lease {
	if s.memory == nil {
		if why != "" {
			progress(why)
		}
		s.memory = index.InMemory(s.analyzer)
	}
	return &Lease{Index: s.memory, cache: s}
}

// Release returns the index with the error of its use: after index.ErrBroken it will be
// replaced.
func (l *Lease) Release(err error) {
	switch broken := errors.Is(err, index.ErrBroken); {
	case l.slot == nil && broken:
		l.cache.memory = nil
	case l.slot != nil && broken:
		l.cache.broken++
		l.slot.discard()
	}
	if l.slot != nil {
		l.slot.release()
	}
}
