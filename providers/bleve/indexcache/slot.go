package indexcache

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2/analysis"

	"github.com/pexctl/pex/providers/bleve/indexcache/index"
)

// slot serializes the users of a folder's index within this process. It exists as long as
// it has users, waiting ones included.
type slot struct {
	dir   string
	users int           // holds a value while the slot is free
	turn  chan struct{} // holds a value while no user has the turn
	index *index.Index  // nil = not open
	lock  *os.File
}

// slots are needed in addition to the file lock, which does not exclude users within one
// process.
var slots = struct {
	mu sync.Mutex
	of map[string]*slot
}{of: map[string]*slot{}}

// acquireSlot waits for exclusive use of a folder's slot.
func acquireSlot(ctx context.Context, dir string) (*slot, error) {
	slots.mu.Lock()
	d := slots.of[dir]
	if d == nil {
		d = &slot{dir: dir, turn: make(chan struct{}, 1)}
		d.turn <- struct{}{}
		slots.of[dir] = d
	}
	d.users++
	slots.mu.Unlock()
	select {
	case <-d.turn:
		return d, nil
	case <-ctx.Done():
		d.unref()
		return nil, ctx.Err()
	}
}

// release lets the next user in.
func (d *slot) release() {
	d.turn <- struct{}{}
	d.unref()
}

// unref removes a user; the last one closes the index.
func (d *slot) unref() {
	slots.mu.Lock()
	defer slots.mu.Unlock()
	if d.users--; d.users == 0 {
		d.close()
		delete(slots.of, d.dir)
	}
}

// open opens the index, or creates one if there is no valid one.
func (d *slot) open(ctx context.Context, a analysis.Analyzer, patience time.Duration) (err error) {
	if d.index != nil {
		return nil
	}
	_, missing := os.Stat(d.dir)
	if d.lock, err = lock(ctx, d.dir, patience); err != nil {
		return err
	}
	if missing != nil {
		evictOldest(d.dir)
	}
	folder := filepath.Join(d.dir, indexName)
	if _, err := os.Stat(folder); err == nil {
		if d.index, err = index.Open(folder, a); err == nil {
			return nil
		}
	}
	err = os.RemoveAll(folder)
	if err == nil {
		d.index, err = index.Create(folder, a)
	}
	if err != nil {
		d.close()
	}
	return err
}

// close forgets the index and unlocks its folder.
func (d *slot) close() {
	if d.lock != nil {
		_ = d.lock.Close()
	}
	d.index, d.lock = nil, nil
}

// discard removes a broken index.
func (d *slot) discard() {
	_ = os.RemoveAll(filepath.Join(d.dir, indexName))
	d.close()
}

// MaxIndexes is the maximum number of stored indexes. A new one evicts the least recently
// used.
const MaxIndexes = 16

// evictOldest removes the least recently used indexes that are not locked.
func evictOldest(dir string) {
	type candidate struct {
		dir string
		at  time.Time
	}
	var all []candidate
	entries, _ := os.ReadDir(filepath.Dir(dir))
	for _, e := range entries {
		other := filepath.Join(filepath.Dir(dir), e.Name())
		if e.IsDir() && other != dir {
			all = append(all, candidate{other, lastUsed(other)})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.dir, b.dir)) })
	excess := len(all) + 1 - MaxIndexes
	for _, old := range all {
		if excess <= 0 {
			return
		}
		if f, err := tryAcquire(old.dir); err == nil {
			// Best effort: a folder that cannot be removed does no harm.
			_ = os.RemoveAll(old.dir)
			_ = f.Close()
			excess--
		}
	}
}

// lastUsed returns when an index was last used.
func lastUsed(dir string) time.Time {
	for _, name := range []string{filepath.Join(dir, lockName), dir} {
		if info, err := os.Stat(name); err == nil {
			return info.ModTime()
		}
	}
	return time.Time{}
}
