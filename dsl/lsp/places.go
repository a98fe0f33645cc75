package lsp

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/creachadair/jrpc2"
)

func (s *server) definition(_ context.Context, p *atPosition) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buffers[p.TextDocument.URI]
	if b == nil {
		return nil, nil
	}
	u := find(s.uses(b), b.text.offset(p.Position))
	if u == nil {
		return nil, nil
	}
	out := []location{}
	if u.kind == "file" {
		if path := s.near(b, u.name); path != "" && s.file(path) != nil {
			out = append(out, location{URI: s.uri(path)})
		}
		return out, nil
	}
	for _, d := range s.definitions(s.family(b), u.kind, u.name) {
		out = append(out, location{d.buffer.uri, d.buffer.text.span(d.from, d.to)})
	}
	return out, nil
}

// uri is what the client calls a file.
func (s *server) uri(path string) string {
	if b := s.paths[path]; b != nil {
		return b.uri
	}
	return uriOf(path)
}

// everywhere lists the places of a name: in the family of a document, in those
// that its definition is of the family of, and in the prompts of all of them.
func (s *server) everywhere(b *buffer, u *use) []use {
	files := s.family(b)
	add := func(more ...*buffer) {
		for _, f := range more {
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	for _, d := range s.definitions(files, u.kind, u.name) {
		for _, path := range s.readers(d.buffer.path) {
			if f := s.file(path); f != nil {
				if others := s.family(f); slices.Contains(others, d.buffer) { // else it calls it, with names of its own
					add(others...)
				}
			}
		}
	}
	for _, f := range slices.Clone(files) {
		add(s.prompts(f)...)
	}
	var out []use
	for _, f := range files {
		for _, other := range s.uses(f) {
			if other.kind == u.kind && other.name == u.name {
				out = append(out, other)
			}
		}
	}
	slices.SortFunc(out, func(a, b use) int {
		if c := strings.Compare(a.buffer.uri, b.buffer.uri); c != 0 {
			return c
		}
		return a.from - b.from
	})
	return out
}

// prompts are the files that a document names and that are no specs.
func (s *server) prompts(b *buffer) (out []*buffer) {
	if !b.spec() {
		return nil
	}
	for _, u := range s.uses(b) {
		if u.kind != "file" {
			continue
		}
		if path := s.near(b, u.name); path != "" {
			if f := s.file(path); f != nil && !f.spec() {
				out = append(out, f)
			}
		}
	}
	return out
}

func (s *server) references(_ context.Context, p *atPosition) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buffers[p.TextDocument.URI]
	if b == nil {
		return nil, nil
	}
	u := find(s.uses(b), b.text.offset(p.Position))
	if u == nil || u.kind == "file" {
		return nil, nil
	}
	out := []location{}
	for _, x := range s.everywhere(b, u) {
		if p.Context.IncludeDeclaration || !x.defined {
			out = append(out, location{x.buffer.uri, x.buffer.text.span(x.from, x.to)})
		}
	}
	return out, nil
}

// renamable finds the name at a place, if it is one that the author gave.
func (s *server) renamable(p *atPosition) (*buffer, *use, error) {
	b := s.buffers[p.TextDocument.URI]
	if b == nil {
		return nil, nil, jrpc2.Errorf(jrpc2.InvalidParams, "the document is not open")
	}
	u := find(s.uses(b), b.text.offset(p.Position))
	if u == nil || u.kind == "file" {
		return nil, nil, jrpc2.Errorf(jrpc2.InvalidParams, "no name stands here that can be changed")
	}
	if strings.ContainsAny(u.name, "*?[") || len(s.definitions(s.family(b), u.kind, u.name)) == 0 {
		return nil, nil, jrpc2.Errorf(jrpc2.InvalidParams, "%s is defined in none of the files", u.name)
	}
	return b, u, nil
}

func (s *server) prepareRename(_ context.Context, p *atPosition) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, u, err := s.renamable(p)
	if err != nil {
		return nil, err
	}
	return b.text.span(u.from, u.to), nil
}

var newName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

func (s *server) rename(_ context.Context, p *atPosition) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, u, err := s.renamable(p)
	if err != nil {
		return nil, err
	}
	switch {
	case !newName.MatchString(p.NewName):
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "%q is no usable name: names are letters, digits, _ and -, and begin with a letter", p.NewName)
	case p.NewName != u.name && len(s.definitions(s.family(b), u.kind, p.NewName)) > 0:
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "there is a %s %s already", u.kind, p.NewName)
	}
	if n := s.definitions(s.family(b), u.kind, u.name)[0].node; u.kind == "tool" && n.get("type") == nil && n.get("use") == nil {
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "%s is a builtin by its name: give the entry use: %s first", u.name, u.name)
	}
	changes := map[string][]textEdit{}
	for _, x := range s.everywhere(b, u) {
		changes[x.buffer.uri] = append(changes[x.buffer.uri], textEdit{x.buffer.text.span(x.from, x.to), p.NewName})
	}
	return workspaceEdit{changes}, nil
}
