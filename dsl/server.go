package dsl

import (
	"path/filepath"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/serverspec"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// LoadServer reads a file of kind: Server (a folder means its server.yaml) and
// reports its mistakes, and the errors of its tokens and specs. The overrides of
// the options apply to the server, not to its specs, which have set under agents.
// The Config is nil if there is an error.
func LoadServer(path string, o Options) (*serverspec.Config, diag.List) {
	l := newLoader(o)
	s, _, _ := l.loadServer(path)
	if l.Report.List.Failed() {
		s = nil
	}
	return s, l.Report.List.Sort()
}

func (l *loader) loadServer(path string) (*serverspec.Config, *syntax.Node, []config.Origin) {
	path = specfs.InFolder(path, specfs.ServerFile)
	tree := l.openKind(path, specfs.KindServer, "a server")
	if tree == nil {
		return nil, nil, nil
	}
	env := &serverspec.Env{Env: l.testEnv(), Insecure: l.options.Insecure, Tokens: l.namedTokens}
	s, defaults := serverspec.Compile(l.Unit, env, tree.Position.Source, tree)
	return s, tree, defaults
}

// openKind opens a file of a kind, with the overrides applied if it is a server. It
// returns nil after reporting an error.
func (l *loader) openKind(path, kind, what string) *syntax.Node {
	src := l.openFile(path, path, specfs.TestRoot)
	if src == nil {
		return nil
	}
	tree := l.mapping(src, what)
	if tree == nil {
		return nil
	}
	if kind == specfs.KindServer {
		l.override(tree)
	}
	if syntax.TextOf(tree, "kind") != kind {
		language.WrongKind(l.Report, tree, kind)
		return nil
	}
	return tree
}

// namedTokens reads the file of tokens that a server names. The decoder has
// reported a file that does not exist.
func (l *loader) namedTokens(at *syntax.Node, path string) *syntax.Node {
	name := at.Text
	if filepath.IsAbs(name) {
		name = l.Files.Shown(path)
	}
	src, no := l.Files.OpenAllowed(path, name)
	if no != nil {
		return nil
	}
	tree := l.mapping(src, "a token file")
	if tree != nil && syntax.TextOf(tree, "kind") != specfs.KindTokens {
		language.WrongKind(l.Report, tree, specfs.KindTokens)
		return nil
	}
	return tree
}

// LoadTokens reads a file of kind: Tokens and reports its mistakes. There are no
// tokens if there is an error.
func LoadTokens(path string, o Options) ([]serverspec.Token, diag.List) {
	l := newLoader(o.withoutOverrides())
	t, _ := l.loadTokens(path)
	if l.Report.List.Failed() {
		t = nil
	}
	return t, l.Report.List.Sort()
}

func (l *loader) loadTokens(path string) ([]serverspec.Token, *syntax.Node) {
	tree := l.openKind(path, specfs.KindTokens, "a token file")
	if tree == nil {
		return nil, nil
	}
	return serverspec.CompileTokens(l.Unit, &l.options.Catalog, tree), tree
}
