package lsp

import "context"

// links lists the files that a document names and that are there: editors follow
// them by a click.
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
		if path := s.near(b, u.name); path != "" && s.file(path) != nil {
			out = append(out, documentLink{b.text.span(u.from, u.to), s.uri(path)})
		}
	}
	return out, nil
}
