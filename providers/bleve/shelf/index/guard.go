package index

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/blevesearch/bleve/v2/index/scorch"
)

// ErrBroken is returned when bleve cannot go on with an index: its files are
// damaged, or cannot be written. It is to be made anew.
var ErrBroken = errors.New("the index is broken")

// ErrBusy is returned for an index that another process has open.
var ErrBusy = errors.New("another process has the index open")

// bolt's word for a lock that did not become free.
const boltTimeout = "timeout"

const reporter = "pex_report"

// engine is bleve's index below the documents.
type engine interface{ Close() error }

// watched are the indexes that are open, by what bleve calls them in reports.
var watched sync.Map

// settings are those of every index.
func settings() map[string]any {
	register()
	return map[string]any{"bolt_timeout": "1s", "asyncErrorCallbackName": reporter}
}

// register makes bleve tell when one of its own goroutines has ended by a panic:
// who waits for it would wait forever.
var register = sync.OnceFunc(func() {
	scorch.RegistryAsyncErrorCallbacks[reporter] = func(err error, store string) {
		if x, ok := watched.Load(store); ok && errors.Is(err, scorch.ErrAsyncPanic) {
			if x, ok := x.(*Index); ok {
				x.die()
			}
		}
	}
})

func (x *Index) watch(folder string) {
	if folder != "" {
		x.store = filepath.Join(folder, "store")
		watched.Store(x.store, x)
	}
}

func (x *Index) die() { x.once.Do(func() { close(x.dead) }) }

// do does something with bleve. It panics when the files of an index are not
// what it wrote; this is the one place where that ends. All errors that are not
// a context's are ErrBroken.
func (x *Index) do(f func() error) error {
	done := make(chan error, 1)
	go func() {
		debug.SetPanicOnFault(true) // a file that is shorter than what is mapped of it
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("%w: %v", ErrBroken, r)
			}
		}()
		done <- f()
	}()
	select {
	case err := <-done:
		if err == nil || errors.Is(err, ErrBroken) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		if err.Error() == boltTimeout {
			return ErrBusy
		}
		return fmt.Errorf("%w: %w", ErrBroken, err)
	case <-x.dead:
		return fmt.Errorf("%w: bleve has stopped", ErrBroken)
	}
}

// Close ends the use of the index. What was not flushed is lost.
func (x *Index) Close() error {
	err := x.do(x.bleve.Close)
	watched.CompareAndDelete(x.store, x)
	return err
}

// Abandon ends the use of an index that is broken, and waits for nothing: Close
// waits for a batch, which may wait forever.
func (x *Index) Abandon() {
	watched.CompareAndDelete(x.store, x)
	x.mu.Lock()
	inside := x.inside
	x.mu.Unlock()
	if inside == nil {
		return
	}
	go func() {
		// What is broken may panic once more; nobody needs it.
		debug.SetPanicOnFault(true)
		defer func() { _ = recover() }()
		_ = inside.Close()
	}()
}
