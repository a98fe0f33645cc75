package lsp

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
)

// vetResult is the result of vetting a file.
type vetResult struct {
	path    string
	hidden  bool // not open: report only diagnostics in open files
	removed bool // no longer a file of the language
	reads   map[string]bool
	origins map[string]config.Origin
	found   diag.List
}

// files returns the files with diagnostics.
func (r *vetResult) files() []string {
	seen := map[string]bool{}
	for _, d := range r.found {
		seen[r.fileOf(d)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// fileOf returns the file of a diagnostic; without one it is the root's.
func (r *vetResult) fileOf(d diag.Diagnostic) string {
	if !filepath.IsAbs(d.File) {
		return r.path
	}
	return d.File
}

// work vets the scheduled files, one at a time, until the context ends.
func (s *server) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		for s.vetNext(ctx) && ctx.Err() == nil {
		}
	}
}

// vetNext vets the file that was scheduled last; it returns false if there is
// none. If the file is scheduled again in the meantime, or a file that it read
// changed, the result is dropped.
func (s *server) vetNext(ctx context.Context) bool {
	s.mu.Lock()
	if len(s.dirty) == 0 {
		s.mu.Unlock()
		return false
	}
	path := s.dirty[len(s.dirty)-1]
	s.dirty = s.dirty[:len(s.dirty)-1]
	r := s.roots[path]
	if r == nil {
		s.mu.Unlock()
		return true
	}
	gone, seen := r.removed, maps.Clone(s.paths)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.running, s.stop = path, stop
	s.mu.Unlock()
	next := &vetResult{path: path}
	if !gone {
		next = s.vet(ctx, path, seen)
	}
	if ctx.Err() != nil {
		return true // scheduled again, or the client disconnected
	}
	if affected, current := s.storeResult(r, next, seen); current {
		s.publish(affected)
	}
	return true
}

// storeResult replaces a result and returns the files that either result has diagnostics
// for. current is false if there is a newer text.
func (s *server) storeResult(r, next *vetResult, seen map[string]*buffer) (affected []string, current bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.stop = "", nil
	if s.roots[r.path] != r {
		return nil, false
	}
	for path := range next.reads {
		if s.paths[path] != seen[path] {
			r.reads = next.reads
			s.schedule(r.path)
			return nil, false
		}
	}
	affected = append(r.files(), next.files()...)
	for path := range s.paths { // a document without mistakes is reported too
		if path == r.path || next.reads[path] {
			affected = append(affected, path)
		}
	}
	r.reads, r.origins, r.found = next.reads, next.origins, next.found
	if r.removed || r.hidden && !slices.ContainsFunc(slices.Collect(maps.Keys(s.paths)), func(p string) bool { return r.reads[p] }) {
		delete(s.roots, r.path)
	}
	return affected, true
}

// vet compiles a file with open buffers in place of files.
func (s *server) vet(ctx context.Context, path string, open map[string]*buffer) (r *vetResult) {
	r = &vetResult{path: path, reads: map[string]bool{path: true}, origins: map[string]config.Origin{}}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.options.Log, "pexctl lsp: vet %s: %v\n%s", path, p, debug.Stack())
		}
	}()
	o := s.options.Spec
	o.Context = ctx
	o.Read = func(path string) ([]byte, error) {
		r.reads[path] = true
		if b := open[path]; b != nil {
			return []byte(b.text.s), nil
		}
		return nil, specfs.ErrOnDisk
	}
	if b := open[path]; b != nil && b.tooLarge {
		r.found = diag.List{{File: path, Code: diag.TooLarge, Severity: diag.Error, Message: "the file is larger than 1048576 bytes", Advice: diag.Advice{Hint: "move long texts to separate files"}}}
		return r
	}
	origins, found := dsl.Vet(path, o)
	r.found = found
	for _, at := range origins {
		r.origins[at.Path] = at
	}
	return r
}
