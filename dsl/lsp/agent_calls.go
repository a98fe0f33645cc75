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

// passes are the pairs of keys by which a spec calls an agent: what it is, and
// its parameters by name.
var passes = []struct{ agent, parameters string }{{"ref", "with"}, {"agent", "parameters"}}

// callee is the file of the agent that a mapping calls, and the agent in it;
// nil = it calls none.
func (s *server) callee(b *buffer, n *outline.Node, key string) (file *buffer, agent string) {
	name, agent, _ := strings.Cut(n.Get(key).String(), "#")
	switch {
	case name != "":
		if path := s.near(b, name); path != "" {
			return s.file(path), agent
		}
	case agent != "":
		return b, agent
	}
	return nil, ""
}

// agentOf is the agent of its file that a definition belongs to; "" = the spec
// itself.
func agentOf(d use) string {
	if d.node != nil && d.node.Match("agents.?.parameters.?") {
		return d.node.Parent.Parent.Key
	}
	return ""
}

// passed lists the keys by which a document passes a parameter to an agent.
func (s *server) passed(b *buffer, d use) (out []use) {
	b.outline().Walk(func(n *outline.Node) {
		for _, p := range passes {
			given := n.Get(p.parameters).Get(d.name)
			if given == nil {
				continue
			}
			if f, agent := s.callee(b, n, p.agent); f != nil && agent == agentOf(d) && slices.Contains(s.workspace(f), d.buffer) {
				out = append(out, use{kind: "parameter", name: d.name, from: given.KeyFrom, to: given.KeyTo, node: given, buffer: b})
			}
		}
	})
	return out
}

// argument is the parameter of another agent that a key at a byte passes: where
// it is defined, and the key itself.
func (s *server) argument(b *buffer, at int) (d, key *use) {
	n := b.outline().Find(at)
	if n == nil || !n.OnKey(at) || n.Parent == nil || n.Parent.Parent == nil {
		return nil, nil
	}
	for _, p := range passes {
		if n.Parent.Key != p.parameters {
			continue
		}
		f, agent := s.callee(b, n.Parent.Parent, p.agent)
		if f == nil {
			continue
		}
		for _, d := range s.definitions(s.workspace(f), "parameter", n.Key) {
			if agentOf(d) == agent {
				return &d, &use{kind: "parameter", name: n.Key, from: n.KeyFrom, to: n.KeyTo, node: n, buffer: b}
			}
		}
	}
	return nil, nil
}

// nameAt is the name at a byte: whose it is, and where. A key that
// passes a parameter to another agent is that agent's.
func (s *server) nameAt(b *buffer, at int) (home *buffer, u, here *use) {
	if d, key := s.argument(b, at); d != nil {
		return d.buffer, d, key
	}
	u = s.find(b, at)
	return b, u, u
}

// gather has the files that may hold a name looked at, open or not, so that all
// places of it are found. The caller does not hold the lock.
func (s *server) gather(ctx context.Context, path, word string) []string {
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

// mayName says whether a file of the language may hold a name, or the file of
// its dataset.
func mayName(path, text, word string) bool {
	switch {
	case strings.Contains(text, "pex/"):
		return strings.Contains(text, word) || strings.Contains(text, "dataset")
	case filepath.Base(path) == caseFile: // it needs no header
		return strings.Contains(text, word)
	}
	return false
}

// sameParameter are those of some files that a definition is of the workspace of, or that
// call its agent.
func (s *server) sameParameter(paths []string, d use) (out []*buffer) {
	for _, path := range paths {
		f := s.file(real(path))
		if f == nil || !f.spec() {
			continue
		}
		if slices.Contains(s.workspace(f), d.buffer) || len(s.passed(f, d)) > 0 {
			out = append(out, f)
		}
	}
	return out
}
