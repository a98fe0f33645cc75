package lsp

import (
	"context"
	"slices"
	"strings"
)

func (s *server) definition(_ context.Context, p *atPosition) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buffers[p.TextDocument.URI]
	if b == nil {
		return nil, nil
	}
	home, u, _ := s.nameAt(b, b.text.offset(p.Position))
	if u == nil {
		return nil, nil
	}
	out := []location{}
	if u.kind == "file" {
		if path := s.projectPath(b, u.name); path != "" && s.file(path) != nil {
			out = append(out, location{URI: s.uri(path)})
		}
		return out, nil
	}
	for _, d := range s.definitions(s.workspace(home), u.kind, u.name) {
		out = append(out, location{d.buffer.uri, d.buffer.text.span(d.from, d.to)})
	}
	return out, nil
}

// uri returns the client's URI of a file.
func (s *server) uri(path string) string {
	if b := s.paths[path]; b != nil {
		return b.uri
	}
	return uriOf(path)
}

// allUses returns the places of a name: in the workspace of a document, in
// workspaces that include its definition, in all their prompts, and in calls that
// pass it. It searches those of paths that are related to it.
func (s *server) allUses(b *buffer, u *nameUse, paths []string) []nameUse {
	files := s.workspace(b)
	definitions := s.definitions(files, u.kind, u.name)
	add := func(more ...*buffer) {
		for _, f := range more {
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	var callers []*buffer
	for _, d := range definitions {
		for _, f := range s.sameParameter(paths, d) {
			if others := s.workspace(f); slices.Contains(others, d.buffer) {
				add(others...)
			}
			callers = append(callers, f)
		}
		for _, path := range s.readers(d.buffer.path) {
			if f := s.file(path); f != nil {
				if others := s.workspace(f); slices.Contains(others, d.buffer) { // otherwise the file is a caller, with its own names
					add(others...)
				}
			}
		}
	}
	for _, f := range slices.Clone(files) {
		add(s.prompts(f)...)
	}
	var out []nameUse
	for _, f := range files {
		for _, other := range s.uses(f) {
			if other.kind != u.kind || !strings.HasPrefix(u.name, other.name) {
				continue
			}
			if other = s.wholeName(files, other); other.name == u.name {
				out = append(out, other)
			}
		}
	}
	for _, d := range definitions {
		if d.kind == "parameter" {
			for _, f := range slices.Concat(files, callers) {
				out = append(out, s.passedAs(f, d)...)
			}
		}
	}
	slices.SortFunc(out, func(a, b nameUse) int {
		if c := strings.Compare(a.buffer.uri, b.buffer.uri); c != 0 {
			return c
		}
		return a.from - b.from
	})
	return slices.CompactFunc(out, func(a, b nameUse) bool { return a.buffer == b.buffer && a.from == b.from })
}

// prompts returns the files that a document names and that are not specs.
func (s *server) prompts(b *buffer) (out []*buffer) {
	if !b.spec() {
		return nil
	}
	for _, u := range s.uses(b) {
		if u.kind != "file" {
			continue
		}
		if path := s.projectPath(b, u.name); path != "" {
			if f := s.file(path); f != nil && !f.spec() {
				out = append(out, f)
			}
		}
	}
	return out
}

func (s *server) references(ctx context.Context, p *atPosition) (any, error) {
	paths := s.filesNaming(ctx, p)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buffers[p.TextDocument.URI]
	if b == nil {
		return nil, nil
	}
	home, u, _ := s.nameAt(b, b.text.offset(p.Position))
	if u == nil || u.kind == "file" {
		return nil, nil
	}
	out := []location{}
	for _, x := range s.allUses(home, u, paths) {
		if p.Context.IncludeDeclaration || !x.defined {
			out = append(out, location{x.buffer.uri, x.buffer.text.span(x.from, x.to)})
		}
	}
	return out, nil
}

// filesNaming returns the files below the root that contain the name at a place.
func (s *server) filesNaming(ctx context.Context, p *atPosition) []string {
	s.mu.Lock()
	b := s.buffers[p.TextDocument.URI]
	var u *nameUse
	if b != nil {
		_, u, _ = s.nameAt(b, b.text.offset(p.Position))
	}
	s.mu.Unlock()
	if u == nil || u.kind == "file" {
		return nil
	}
	return s.loadFilesNaming(ctx, b.path, u.name)
}

// links returns the existing files that a document names, as clickable links.
func (s *server) links(_ context.Context, p *atPosition) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []documentLink{}
	b := s.buffers[p.TextDocument.URI]
	if b == nil || !b.spec() {
		return out, nil
	}
	for _, u := range s.uses(b) {
		if u.kind != "file" {
			continue
		}
		if path := s.projectPath(b, u.name); path != "" && s.file(path) != nil {
			out = append(out, documentLink{b.text.span(u.from, u.to), s.uri(path)})
		}
	}
	return out, nil
}
