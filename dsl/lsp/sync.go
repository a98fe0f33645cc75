package lsp

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
)

func (s *server) didOpen(_ context.Context, p *struct {
	TextDocument document `json:"textDocument"`
},
) (any, error) {
	d := p.TextDocument
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setBuffer(newBuffer(d.URI, s.pathOf(d.URI), d.Version, newText(d.Text, s.inBytes)))
	return nil, nil
}

func (s *server) didChange(_ context.Context, p *changeParams) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buffers[p.TextDocument.URI]
	if b == nil {
		return nil, nil
	}
	text, lost := b.text, b.tooLarge
	for _, c := range p.ContentChanges {
		if lost && c.Range != nil {
			continue // too large to be stored; the next full text is
		}
		text, lost = text.changed(c.Range, c.Text), false
	}
	next := newBuffer(b.uri, b.path, p.TextDocument.Version, text)
	next.tooLarge = next.tooLarge || lost
	s.setBuffer(next)
	return nil, nil
}

func (s *server) didClose(_ context.Context, p *struct {
	TextDocument document `json:"textDocument"`
},
) (any, error) {
	s.mu.Lock()
	b := s.buffers[p.TextDocument.URI]
	if b == nil {
		s.mu.Unlock()
		return nil, nil
	}
	delete(s.buffers, b.uri)
	delete(s.paths, b.path)
	s.scheduleReaders(b.path)
	cleared := s.dropUnused()
	s.mu.Unlock()
	s.publish(append(cleared, b.path))
	return nil, nil
}

// didSave vets everything again, because files on disk may have changed.
func (s *server) didSave(context.Context, *struct{}) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path := range s.roots {
		s.schedule(path)
	}
	return nil, nil
}

// pathOf returns the path of a document. An unsaved one gets a path in the
// workspace.
func (s *server) pathOf(uri string) string {
	if path := pathOf(uri); path != "" {
		return resolveLinks(path)
	}
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == 0 || r == ':' {
			return '-'
		}
		return r
	}, uri)
	const longest = 200
	return resolveLinks(filepath.Join(s.base, name[:min(len(name), longest)]))
}

// setBuffer makes a buffer the newest one of its document, and schedules vetting of
// the files that read it. The caller must hold the lock.
func (s *server) setBuffer(b *buffer) {
	s.buffers[b.uri], s.paths[b.path] = b, b
	read := s.scheduleReaders(b.path)
	if b.spec() {
		if s.roots[b.path] == nil {
			s.roots[b.path] = &vetResult{path: b.path}
		}
		s.roots[b.path].hidden, s.roots[b.path].removed = false, false
		s.schedule(b.path)
	} else if r := s.roots[b.path]; r != nil {
		r.removed = true
		s.schedule(b.path)
	} else if !read {
		s.searches.Go(func() { s.discover(s.ctx, b.path) })
	}
}

// scheduleReaders schedules vetting of everything that reads a file, and reports whether
// there is anything.
func (s *server) scheduleReaders(path string) (read bool) {
	for _, r := range s.roots {
		if r.reads[path] {
			read = true
			s.schedule(r.path)
		}
	}
	return read
}

// schedule schedules a file for vetting; the newest comes first. If it is already
// being vetted, that is canceled, because its text is outdated.
func (s *server) schedule(path string) {
	if s.running == path && s.stop != nil {
		s.stop()
	}
	s.dirty = append(slices.DeleteFunc(s.dirty, func(p string) bool { return p == path }), path)
	select {
	case s.wake <- struct{}{}:
	default: // already woken
	}
}

// dropUnused drops what no open document is part of, and returns the files that had
// diagnostics.
func (s *server) dropUnused() (cleared []string) {
	for path, r := range s.roots {
		if b := s.paths[path]; b != nil {
			continue
		}
		r.hidden = true
		wanted := false
		for p := range s.paths {
			wanted = wanted || r.reads[p]
		}
		if !wanted {
			cleared = append(cleared, r.files()...)
			delete(s.roots, path)
		}
	}
	return cleared
}

// Limits of a search: files read, and specs vetted because of it.
const (
	maxLooked = 20_000
	maxSpecs  = 50
)

// discover searches for specs that are not open and read an open file, such as a
// prompt, to report mistakes in that file. It ends with the context.
func (s *server) discover(ctx context.Context, path string) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.options.Log, "pexctl lsp: look for specs: %v\n", p)
		}
	}()
	root := s.options.Spec.Root
	if root == "" {
		root = specfs.Root(filepath.Dir(path))
	}
	name := filepath.Base(path)
	specs := filesBelow(ctx, root, func(d fs.DirEntry, path string) bool { return mayRead(d, path, name) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paths[path] == nil {
		return // it was closed
	}
	for _, spec := range specs {
		if spec = resolveLinks(spec); s.roots[spec] == nil {
			s.roots[spec] = &vetResult{path: spec, hidden: true}
			s.schedule(spec)
		}
	}
}

// filesBelow returns the YAML files below a folder that satisfy fits.
func filesBelow(ctx context.Context, root string, fits func(d fs.DirEntry, path string) bool) (specs []string) {
	looked := 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // unreadable files are skipped
		looked++
		switch {
		case ctx.Err() != nil || looked > maxLooked || len(specs) >= maxSpecs:
			return fs.SkipAll
		case err != nil:
			return nil
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.Type().IsRegular() && (filepath.Ext(path) == ".yaml" || filepath.Ext(path) == ".yml") && fits(d, path):
			specs = append(specs, path)
		}
		return nil
	})
	return specs
}

// mayRead reports whether a file is a spec that may name another file.
func mayRead(d fs.DirEntry, path, name string) bool {
	if info, err := d.Info(); err != nil || info.Size() > maxFile {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "Agent") {
		return false
	}
	return strings.Contains(string(text), name) || strings.Contains(string(text), "include:") || strings.Contains(string(text), "extends:")
}
