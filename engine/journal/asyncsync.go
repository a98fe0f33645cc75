package journal

import (
	"errors"
	"io/fs"
	"sync"

	"github.com/pexctl/pex/engine/regular"
)

// background syncs the journals written with durability Async, one after another. Its
// goroutine runs only while there is something to sync.
type background struct {
	home  *Home
	mu    sync.Mutex // guards the fields below
	dirty []lateSync
	index map[string]int // index in dirty by path
	done  chan struct{}  // closed when the goroutine ends; nil = not running
	err   error          // the first failure
}

// lateSync is a file to sync.
type lateSync struct {
	path  string
	isNew bool  // its directory entries are new
	f     *File // the journal, which fails if the sync does
	head  *Head // to be written afterwards; nil = the session continues
}

func (b *background) add(l lateSync) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.index == nil {
		b.index = map[string]int{}
	}
	if i, there := b.index[l.path]; there {
		l.isNew = l.isNew || b.dirty[i].isNew
		b.dirty[i] = l
	} else {
		b.index[l.path] = len(b.dirty)
		b.dirty = append(b.dirty, l)
	}
	if b.done == nil {
		b.done = make(chan struct{})
		go b.syncLoop(b.done)
	}
}

func (b *background) syncLoop(done chan struct{}) {
	defer close(done)
	for {
		b.mu.Lock()
		dirty := b.dirty
		b.dirty, b.index = nil, nil
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

// syncLate reopens the file, since the run may have closed it. A removed run needs no
// sync.
func (h *Home) syncLate(l lateSync) error {
	m := l.f.currentExtent()
	err := regular.SyncPath(l.path)
	if err == nil && l.isNew {
		err = h.names.save()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case l.head != nil:
		err := h.writeLastHead(l.head)
		if err == nil && !exists(l.path) { // removed meanwhile
			err = h.writeHead(&Head{Run: l.head.Run}, false)
		}
		return err
	}
	if m.seq == 0 {
		return nil
	}
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	l.f.mark(m)
	return nil
}

// fail makes the next Append of the journal return the error.
func (b *background) fail(l lateSync, err error) {
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

// wait returns the first error once nothing is left to sync.
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
