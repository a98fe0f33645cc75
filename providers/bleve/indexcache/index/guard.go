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

// ErrBroken is returned when bleve cannot continue with an index because its files are
// damaged or cannot be written. It must be recreated.
var ErrBroken = errors.New("the index is broken")

// ErrBusy is returned for an index that another process has open.
var ErrBusy = errors.New("another process has the index open")

// boltTimeout is bolt's error text for a lock that was not released in time.
const boltTimeout = "timeout"

const reporter = "pex_report"

// engine is bleve's index below the documents.
type engine interface{ Close() error }

// openIndexes are the open indexes by their name in bleve's reports.
var openIndexes sync.Map

// settings returns the settings of every index.
func settings() map[string]any {
	register()
	return map[string]any{"bolt_timeout": "1s", "asyncErrorCallbackName": reporter}
}

// register makes bleve report panics of its own goroutines; otherwise callers would wait
// for them forever.
var register = sync.OnceFunc(func() {
	scorch.RegistryAsyncErrorCallbacks[reporter] = func(err error, store string) {
		if x, ok := openIndexes.Load(store); ok && errors.Is(err, scorch.ErrAsyncPanic) {
			if x, ok := x.(*Index); ok {
				x.fail()
			}
		}
	}
})

func (x *Index) watch(folder string) {
	if folder != "" {
		x.store = filepath.Join(folder, "store")
		openIndexes.Store(x.store, x)
	}
}

func (x *Index) fail() { x.once.Do(func() { close(x.failed) }) }

// do calls f, which uses bleve, and recovers its panics about damaged files. All errors
// except those of contexts are ErrBroken.
func (x *Index) do(f func() error) error {
	done := make(chan error, 1)
	go func() {
		debug.SetPanicOnFault(true) // a file shorter than its mapping
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
	case <-x.failed:
		return fmt.Errorf("%w: bleve has stopped", ErrBroken)
	}
}

// Close closes the index. Unflushed changes are lost.
func (x *Index) Close() error {
	err := x.do(x.bleve.Close)
	openIndexes.CompareAndDelete(x.store, x)
	return err
}

// Abandon closes a broken index without waiting: Close would wait for a batch, possibly
// forever.
func (x *Index) Abandon() {
	openIndexes.CompareAndDelete(x.store, x)
	x.mu.Lock()
	inside := x.engine
	x.mu.Unlock()
	if inside == nil {
		return
	}
	go func() {
		// A second panic no longer matters.
		debug.SetPanicOnFault(true)
		defer func() { _ = recover() }()
		_ = inside.Close()
	}()
}
