package journal

import (
	"errors"
	"io/fs"
	"sync"

	"github.com/pexctl/pex/engine/regular"
)

// background syncs, one after another, the journals that Async has written to.
// Its goroutine lives only while there is something to sync.
type background struct {
	home  *Home
	mu    sync.Mutex // guards what follows
	dirty []late
	known map[string]int // where a path stands in dirty
	done  chan struct{}  // closed when the goroutine ends; nil = none runs
	err   error          // the first failure
}

// late is a file to be synced.
type late struct {
	path string
	made bool  // its names are new
	f    *File // the journal, which fails if the sync does
}

func (b *background) add(l late) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil {
		b.known = map[string]int{}
	}
	if i, there := b.known[l.path]; there {
		l.made = l.made || b.dirty[i].made
		b.dirty[i] = l
	} else {
		b.known[l.path] = len(b.dirty)
		b.dirty = append(b.dirty, l)
	}
	if b.done == nil {
		b.done = make(chan struct{})
		go b.syncs(b.done)
	}
}

func (b *background) syncs(done chan struct{}) {
	defer close(done)
	for {
		b.mu.Lock()
		dirty := b.dirty
		b.dirty, b.known = nil, nil
		if len(dirty) == 0 {
			b.done = nil
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		for _, l := range dirty {
			if err := b.home.syncLate(l); err != nil {
				b.fail(l, err)
			}
		}
	}
}

// syncLate opens the file again, for the run may have closed it. A run that is
// gone needs no sync.
func (h *Home) syncLate(l late) error {
	m := l.f.reached()
	err := regular.SyncPath(l.path)
	if err == nil && l.made {
		err = h.syncNames(l.path)
	}
	if err == nil {
		m.write(l.f.lock, l.f.run)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// fail ends the file's journal: its next Append says why.
func (b *background) fail(l late, err error) {
	err = appendError(l.f.run, err)
	l.f.mu.Lock()
	if l.f.err == nil {
		l.f.err = err
	}
	l.f.mu.Unlock()
	b.mu.Lock()
	if b.err == nil {
		b.err = err
	}
	b.mu.Unlock()
}

// wait returns when nothing is left to sync, with the first failure.
func (b *background) wait() error {
	for {
		b.mu.Lock()
		done, err := b.done, b.err
		b.mu.Unlock()
		if done == nil {
			return err
		}
		<-done
	}
}
