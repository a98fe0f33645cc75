package lsp

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/lsp/outline"
	"github.com/pexctl/pex/dsl/specfs"
)

// agentCallKeys are the pairs of keys with which a spec calls an agent: the agent and
// its parameters.
var agentCallKeys = []struct{ agent, parameters string }{{"ref", "with"}, {"agent", "parameters"}}

// callee returns the file of the agent that a mapping calls, and the agent in it.
// file is nil if it calls none.
func (s *server) callee(b *buffer, n *outline.Node, key string) (file *buffer, agent string) {
	name, agent, _ := strings.Cut(n.Get(key).String(), "#")
	switch {
	case name != "":
		if path := s.projectPath(b, name); path != "" {
			return s.file(path), agent
		}
	case agent != "":
		return b, agent
	}
	return nil, ""
}

// agentOf returns the agent of the file that a definition belongs to; "" for the
// spec itself.
func agentOf(d nameUse) string {
	if d.node != nil && d.node.Match("agents.?.parameters.?") {
		return d.node.Parent.Parent.Key
	}
	return ""
}

// passedAs returns the keys with which a document passes a parameter to an agent.
func (s *server) passedAs(b *buffer, d nameUse) (out []nameUse) {
	b.outline().Walk(func(n *outline.Node) {
		for _, p := range agentCallKeys {
			given := n.Get(p.parameters).Get(d.name)
			if given == nil {
				continue
			}
			if f, agent := s.callee(b, n, p.agent); f != nil && agent == agentOf(d) && slices.Contains(s.workspace(f), d.buffer) {
				out = append(out, nameUse{kind: "parameter", name: d.name, from: given.KeyFrom, to: given.KeyTo, node: given, buffer: b})
			}
		}
	})
	return out
}

// argument returns the parameter of another agent that the key at a byte passes:
// its definition, and the key itself.
func (s *server) argument(b *buffer, at int) (d, key *nameUse) {
	n := b.outline().Find(at)
	if n == nil || !n.OnKey(at) || n.Parent == nil || n.Parent.Parent == nil {
		return nil, nil
	}
	for _, p := range agentCallKeys {
		if n.Parent.Key != p.parameters {
			continue
		}
		f, agent := s.callee(b, n.Parent.Parent, p.agent)
		if f == nil {
			continue
		}
		for _, d := range s.definitions(s.workspace(f), "parameter", n.Key) {
			if agentOf(d) == agent {
				return &d, &nameUse{kind: "parameter", name: n.Key, from: n.KeyFrom, to: n.KeyTo, node: n, buffer: b}
			}
		}
	}
	return nil, nil
}

// nameAt returns the name at a byte: the document that defines it, and its place.
// A key that passes a parameter to another agent belongs to that agent.
func (s *server) nameAt(b *buffer, at int) (home *buffer, u, here *nameUse) {
	if d, key := s.argument(b, at); d != nil {
		return d.buffer, d, key
	}
	u = s.find(b, at)
	return b, u, u
}

// loadFilesNaming loads the files that may contain a name, open or not, so that all its
// places are found. The caller must not hold the lock.
func (s *server) loadFilesNaming(ctx context.Context, path, word string) []string {
	root := s.options.Spec.Root
	if root == "" {
		root = specfs.Root(filepath.Dir(path))
	}
	return filesBelow(ctx, root, func(d fs.DirEntry, path string) bool {
		if info, err := d.Info(); err != nil || info.Size() > maxFile {
			return false
		}
		text, err := os.ReadFile(path)
		return err == nil && mayName(path, string(text), word)
	})
}

// mayName reports whether a file of the language, or its dataset, may contain a
// name.
func mayName(path, text, word string) bool {
	switch {
	case strings.Contains(text, "pex/"):
		return strings.Contains(text, word) || strings.Contains(text, "dataset")
	case filepath.Base(path) == caseFile: // it needs no header
		return strings.Contains(text, word)
	}
	return false
}

// sameParameter returns the files that belong to the workspace of a definition,
// or that call its agent.
func (s *server) sameParameter(paths []string, d nameUse) (out []*buffer) {
	for _, path := range paths {
		f := s.file(resolveLinks(path))
		if f == nil || !f.spec() {
			continue
		}
		if slices.Contains(s.workspace(f), d.buffer) || len(s.passedAs(f, d)) > 0 {
			out = append(out, f)
		}
	}
	return out
}
