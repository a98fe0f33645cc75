package journal

import (
	"errors"
	"io/fs"
	"sync"
)

// background syncs, one after another, the files that Async has written to.
// Its goroutine lives only while there is something to sync.
type background struct {
	home  *Home
	mu    sync.Mutex // guards what follows
	dirty []*File
	known map[*File]bool // dirty files; true = their names are new
	done  chan struct{}  // closed when the goroutine ends; nil = none runs
	err   error          // the first failure
}

func (b *background) add(f *File, made bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil {
		b.known = map[*File]bool{}
	}
	was, there := b.known[f]
	if b.known[f] = was || made; !there {
		b.dirty = append(b.dirty, f)
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
		files, known := b.dirty, b.known
		b.dirty, b.known = nil, nil
		if len(files) == 0 {
			b.done = nil
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		for _, f := range files {
			if err := b.home.syncLate(f, known[f]); err != nil {
				b.fail(f, err)
			}
		}
	}
}

// syncLate opens the file anew, for the run may have closed it. A run that is
// gone needs no sync.
func (h *Home) syncLate(f *File, made bool) error {
	err := syncFile(f.path)
	if err == nil && made {
		err = h.syncNames(f.path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// fail ends the file's journal: its next Append says why.
func (b *background) fail(f *File, err error) {
	err = appendError(f.run, err)
	f.mu.Lock()
	if f.err == nil {
		f.err = err
	}
	f.mu.Unlock()
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
