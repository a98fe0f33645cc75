package lsp

import (
	"context"
	"strings"

	"github.com/creachadair/jrpc2"

	"github.com/pexctl/pex/engine/text"
)

// renamable returns the name at a place if the author chose it: the document that
// defines it, and its place.
func (s *server) renamable(p *atPosition) (home *buffer, u, here *nameUse, err error) {
	b := s.buffers[p.TextDocument.URI]
	if b == nil {
		return nil, nil, nil, jrpc2.Errorf(jrpc2.InvalidParams, "the document is not open")
	}
	home, u, here = s.nameAt(b, b.text.offset(p.Position))
	if u == nil || u.kind == "file" {
		return nil, nil, nil, jrpc2.Errorf(jrpc2.InvalidParams, "no renamable name at this position")
	}
	defined := s.definitions(s.workspace(home), u.kind, u.name)
	if strings.ContainsAny(u.name, "*?[") || len(defined) == 0 {
		return nil, nil, nil, jrpc2.Errorf(jrpc2.InvalidParams, "%s is not defined in any open file", u.name)
	}
	for _, d := range defined {
		if u.kind == "parameter" && (agentOf(d) != agentOf(defined[0]) || agentOf(d) != "" && d.buffer != defined[0].buffer) {
			return nil, nil, nil, jrpc2.Errorf(jrpc2.InvalidParams, "several agents have a parameter %s, so its uses are ambiguous; rename it by hand", u.name)
		}
	}
	return home, u, here, nil
}

func (s *server) prepareRename(_ context.Context, p *atPosition) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _, here, err := s.renamable(p)
	if err != nil {
		return nil, err
	}
	return here.buffer.text.span(here.from, here.to), nil
}

// newIdentifier matches a name that may follow a dot in an expression.
var newIdentifier = text.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

var (
	newName      = text.Regexp(`^[A-Za-z][A-Za-z0-9_-]*$`)
	newParameter = text.Regexp(`^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)
)

// maxName is the maximum length of a name, as in the compiler.
const maxName = 64

func (s *server) rename(ctx context.Context, p *atPosition) (any, error) {
	paths := s.filesNaming(ctx, p)
	s.mu.Lock()
	defer s.mu.Unlock()
	b, u, _, err := s.renamable(p)
	if err != nil {
		return nil, err
	}
	if err := s.checkNewName(b, u, p.NewName); err != nil {
		return nil, err
	}
	d := s.definitions(s.workspace(b), u.kind, u.name)[0]
	if suite, in := s.column(s.sameParameter(paths, d), d); u.kind == "parameter" && suite != nil {
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "the dataset of %s sets %s from a column of that name, in %s; first map all parameters explicitly there: dataset: {..., parameters: {%[2]s: \"${case.%[2]s}\"}}", rel(d.buffer, suite.path), u.name, rel(d.buffer, in))
	}
	if n := d.node; u.kind == "tool" && n.Get("type") == nil && n.Get("use") == nil {
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "the name %s selects a built-in tool; first add use: %s to the entry", u.name, u.name)
	}
	changes := map[string][]textEdit{}
	for _, x := range s.allUses(b, u, paths) {
		from, text := x.renamedText(p.NewName)
		if text == "" {
			line := x.buffer.text.position(x.from).Line + 1
			return nil, jrpc2.Errorf(jrpc2.InvalidParams, "%s:%d uses %s without quotes inside braces, where %q is not valid; first quote that expression", rel(d.buffer, x.buffer.path), line, u.name, p.NewName)
		}
		changes[x.buffer.uri] = append(changes[x.buffer.uri], textEdit{x.buffer.text.span(from, x.to), text})
	}
	return workspaceEdit{changes}, nil
}

// checkNewName reports why a name cannot be used: it is invalid, or already used.
func (s *server) checkNewName(b *buffer, u *nameUse, name string) error {
	usable, what := newName(), "a name starts with a letter and contains only letters, digits, _ and -"
	if u.kind == "parameter" {
		usable, what = newParameter(), "the name of a parameter starts with a letter and contains only letters, digits, _, - and single dots"
	}
	workspace := s.workspace(b)
	switch {
	case !usable.MatchString(name) || len(name) > maxName:
		return jrpc2.Errorf(jrpc2.InvalidParams, "invalid name %q: %s", name, what)
	case name != u.name && len(s.definitions(workspace, u.kind, name)) > 0:
		return jrpc2.Errorf(jrpc2.InvalidParams, "the %s %s already exists", u.kind, name)
	}
	if owner := s.path(workspace, u, name); owner != "" {
		return jrpc2.Errorf(jrpc2.InvalidParams, "in templates, %s is a part of %s; choose another name", name, owner)
	}
	return nil
}
