package lsp

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

func (s *server) didOpen(_ context.Context, p *struct {
	TextDocument document `json:"textDocument"`
},
) (any, error) {
	d := p.TextDocument
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(newBuffer(d.URI, s.pathOf(d.URI), d.Version, newText(d.Text, s.inBytes)))
	return nil, nil
}

func (s *server) didChange(_ context.Context, p *changeParams) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buffers[p.TextDocument.URI]
	if b == nil {
		return nil, nil
	}
	text, lost := b.text, b.lost
	for _, c := range p.ContentChanges {
		if lost && c.Range != nil {
			continue // of a text that is not kept; the next whole one is
		}
		text, lost = text.changed(c.Range, c.Text), false
	}
	next := newBuffer(b.uri, b.path, p.TextDocument.Version, text)
	next.lost = next.lost || lost
	s.take(next)
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
	s.touch(b.path)
	cleared := s.forget()
	s.mu.Unlock()
	s.publish(append(cleared, b.path))
	return nil, nil
}

// saved vets everything again: what is on disk may have changed.
func (s *server) saved(context.Context, *struct{}) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path := range s.roots {
		s.mark(path)
	}
	return nil, nil
}

// pathOf is where a document is, or would be: one that was never saved lies in
// the workspace.
func (s *server) pathOf(uri string) string {
	if path := pathOf(uri); path != "" {
		return real(path)
	}
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == 0 || r == ':' {
			return '-'
		}
		return r
	}, uri)
	const longest = 200
	return real(filepath.Join(s.base, name[:min(len(name), longest)]))
}

// take makes a buffer the newest of its document, and has vetted what it is
// part of. The caller holds the lock.
func (s *server) take(b *buffer) {
	s.buffers[b.uri], s.paths[b.path] = b, b
	read := s.touch(b.path)
	if b.spec() {
		if s.roots[b.path] == nil {
			s.roots[b.path] = &vetted{path: b.path}
		}
		s.roots[b.path].hidden, s.roots[b.path].gone = false, false
		s.mark(b.path)
	} else if r := s.roots[b.path]; r != nil {
		r.gone = true
		s.mark(b.path)
	} else if !read {
		s.searches.Go(func() { s.discover(s.living, b.path) })
	}
}

// touch has everything vetted that reads a file, and says whether there is
// anything.
func (s *server) touch(path string) (read bool) {
	for _, r := range s.roots {
		if r.reads[path] {
			read = true
			s.mark(r.path)
		}
	}
	return read
}

// mark puts a file to those that are to be vetted; the newest comes first. If it
// is being vetted, that is given up: it is of a text that nobody sees any more.
func (s *server) mark(path string) {
	if s.running == path && s.stop != nil {
		s.stop()
	}
	s.dirty = append(slices.DeleteFunc(s.dirty, func(p string) bool { return p == path }), path)
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// forget drops what no open document is part of, and returns the files of which
// something was said.
func (s *server) forget() (cleared []string) {
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
