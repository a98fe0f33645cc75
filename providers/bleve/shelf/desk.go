package shelf

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2/mapping"

	"github.com/pexctl/pex/providers/bleve/shelf/index"
)

// desk is where those of this process share the index of a folder, one after the
// other. It is open as long as somebody is there or waits.
type desk struct {
	dir   string
	users int           // guarded by desks.mu
	turn  chan struct{} // holds a value while nobody has the turn
	index *index.Index  // nil = not open
	lock  *os.File
}

// desks are those of the process: a lock on a file does not tell two of them apart
// from two processes.
var desks = struct {
	mu sync.Mutex
	of map[string]*desk
}{of: map[string]*desk{}}

// sit waits for the turn at the desk of a folder.
func sit(ctx context.Context, dir string) (*desk, error) {
	desks.mu.Lock()
	d := desks.of[dir]
	if d == nil {
		d = &desk{dir: dir, turn: make(chan struct{}, 1)}
		d.turn <- struct{}{}
		desks.of[dir] = d
	}
	d.users++
	desks.mu.Unlock()
	select {
	case <-d.turn:
		return d, nil
	case <-ctx.Done():
		d.leave()
		return nil, ctx.Err()
	}
}

// rise gives the turn to the next one.
func (d *desk) rise() {
	d.turn <- struct{}{}
	d.leave()
}

// leave ends somebody's being there; the last one closes the index, before
// anybody can come.
func (d *desk) leave() {
	desks.mu.Lock()
	defer desks.mu.Unlock()
	if d.users--; d.users == 0 {
		d.close()
		delete(desks.of, d.dir)
	}
}

// open opens the index, or makes one where there is none that is whole.
func (d *desk) open(ctx context.Context, m *mapping.IndexMappingImpl, patience time.Duration) (err error) {
	if d.index != nil {
		return nil
	}
	_, missing := os.Stat(d.dir)
	if d.lock, err = lock(ctx, d.dir, patience); err != nil {
		return err
	}
	if missing != nil {
		crowd(d.dir)
	}
	folder := filepath.Join(d.dir, indexName)
	if _, err := os.Stat(folder); err == nil {
		if d.index, err = index.Open(folder, m); err == nil {
			return nil
		}
		if errors.Is(err, index.ErrBusy) {
			d.close()
			return err
		}
	}
	err = os.RemoveAll(folder)
	if err == nil {
		d.index, err = index.Create(folder, m)
	}
	if err != nil {
		d.close()
	}
	return err
}

// close ends the use of the index. What is lost by an error is indexed again.
func (d *desk) close() {
	if d.index != nil {
		_ = d.index.Close()
	}
	if d.lock != nil {
		_ = d.lock.Close()
	}
	d.index, d.lock = nil, nil
}

// discard removes an index that is broken.
func (d *desk) discard() {
	d.index.Abandon()
	d.index = nil
	_ = os.RemoveAll(filepath.Join(d.dir, indexName))
	d.close()
}

// Kept is how many shelves stand beside each other; the one that was used
// longest ago makes room for a new one.
const Kept = 16

// crowd removes the oldest of the shelves beside a new one, but none that is in
// use.
func crowd(dir string) {
	type shelf struct {
		dir string
		at  time.Time
	}
	var all []shelf
	entries, _ := os.ReadDir(filepath.Dir(dir))
	for _, e := range entries {
		other := filepath.Join(filepath.Dir(dir), e.Name())
		if e.IsDir() && other != dir {
			all = append(all, shelf{other, used(other)})
		}
	}
	slices.SortFunc(all, func(a, b shelf) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.dir, b.dir)) })
	excess := len(all) + 1 - Kept
	for _, old := range all {
		if excess <= 0 {
			return
		}
		if f, err := try(old.dir); err == nil {
			// What cannot be removed stays; it does no harm.
			_ = os.RemoveAll(old.dir)
			_ = f.Close()
			excess--
		}
	}
}

// used is when a shelf was used last.
func used(dir string) time.Time {
	for _, name := range []string{filepath.Join(dir, lockName), dir} {
		if info, err := os.Stat(name); err == nil {
			return info.ModTime()
		}
	}
	return time.Time{}
}
