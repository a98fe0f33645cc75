package dsl

import (
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/edit"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// loader loads one file.
type loader struct {
	*config.Unit
	options   Options
	skipTests bool            // skip the spec's tests, which the caller checks
	chain     []string        // specs being compiled, outermost first
	lock      *pins           // nil until read
	untyped   map[string]bool // servers already reported as not pinned
	built     builtAgents
	outer     *syntax.Node // for an agent within a file, the tree of that file; otherwise nil
	edits     edit.Edits
}

func newLoader(o Options) *loader {
	return &loader{Unit: &config.Unit{Report: &syntax.Report{}}, options: o, built: builtAgents{}, edits: edit.New(o.Prompts)}
}

// load runs every phase. Later phases run even after errors, to report all of
// them.
func (l *loader) load(path string) *Spec {
	src := l.openSpec(path)
	if src == nil {
		return nil
	}
	return l.loadSource(src)
}

// openSpec opens a spec; a folder means its spec.yaml.
func (l *loader) openSpec(path string) *syntax.Source {
	return l.openFile(specfs.InFolder(path, specfs.SpecFile), specfs.InFolder(path, specfs.SpecFile), specfs.Root)
}

// openFile opens a file and determines its root. shown is the user's path; rootOf
// returns the root for its folder if the options have none.
func (l *loader) openFile(path, shown string, rootOf func(dir string) string) *syntax.Source {
	nowhere := syntax.Position{Source: &syntax.Source{Name: shown}}
	path, agent := specfs.SplitAgent(path)
	shown, _ = specfs.SplitAgent(shown)
	abs, err := filepath.Abs(path)
	if err != nil {
		l.Report.Error(diag.Unreadable, nowhere, "%s: %v", shown, err)
		return nil
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(real, filepath.Base(abs))
	}
	dir := filepath.Dir(abs)
	root := rootOf(dir)
	if l.options.Root != "" {
		if root, err = filepath.Abs(l.options.Root); err == nil {
			root, err = filepath.EvalSymlinks(root)
		}
		if err != nil {
			l.Report.Error(diag.Unreadable, nowhere, "cannot use the root %s: %v", l.options.Root, err)
			return nil
		}
	}
	l.Files = specfs.NewReader(root, dir, filepath.Dir(shown), l.options.access())
	if l.options.cancelled() {
		return nil
	}
	src, no := l.Files.Open(abs, shown)
	if no != nil {
		if no.Hint == "" && no.Code == diag.Unreadable && filepath.Base(abs) == specfs.SpecFile {
			no.Hint = specfs.SpecsHint(dir, filepath.Dir(shown))
		}
		l.ReportRefusal(nowhere, no)
		return nil
	}
	src.Agent = agent
	if l.options.Address != "" {
		src.Name, src.Foreign = l.options.Address, true
		l.Files.Foreign.Add(l.Files.FromRoot(abs), src)
	}
	return src
}

// loadSource loads an open spec: parsing, includes, overrides and the compiler.
func (l *loader) loadSource(src *syntax.Source) *Spec {
	tree := l.mapping(src, "a spec")
	if tree == nil || l.foreignFormat(tree) {
		return nil
	}
	if !l.extend(tree, src, nil) {
		return nil
	}
	l.include(tree, src)
	if syntax.TextOf(tree, "kind") == specfs.KindLibrary {
		l.onlyShared(tree)
	}
	if src.Agent != "" {
		l.outer = tree
		if tree = l.innerTree(tree, src.Agent, tree.Position); tree == nil {
			return nil
		}
	}
	l.override(tree)
	return l.finish(tree, src)
}

// finish decodes, checks and compiles a complete tree.
func (l *loader) finish(tree *syntax.Node, src *syntax.Source) *Spec {
	s := &Spec{File: src.Path, Agent: src.Agent, Dir: src.Dir(), Root: l.Files.Root, Foreign: l.Files.Foreign, tree: tree, files: l.Files, pinOf: l.pinOf}
	l.chain = append(l.chain, src.PathWithAgent())
	defer func() { l.chain = l.chain[:len(l.chain)-1] }()
	before := len(l.Report.List)
	c := newCompiler(l, tree, src.Dir())
	c.source = src
	p := c.compile()
	s.Kind, s.models, s.llms = c.doc.Kind, c.usedLLMs, c.Entries
	s.defaults, s.agents, s.callees = c.Defaults, c.agents, c.callees
	s.depth, s.places = c.depth+1, c.callers+1
	s.uses = c.uses()
	if p != nil && !l.Report.FailedSince(before) && !l.Report.List.Failed() {
		for _, d := range l.Report.List {
			if d.Severity == diag.Warning {
				p.Warnings = append(p.Warnings, warningText(d))
			}
		}
		s.program = p
		s.subject = s.newSubject()
		l.analyze(c, s)
	}
	if len(l.chain) == 1 && !l.skipTests && s.Kind == specfs.KindAgent {
		if l.inlineTests(c, s); l.Report.List.Failed() {
			s.program, s.subject = nil, nil
		}
	}
	s.Files = l.ReadPaths
	return s
}

// warningText returns a warning for a Program in one line, without its position,
// so that a resumed run has the same warnings as its first session.
func warningText(d diag.Diagnostic) string {
	return strings.TrimSpace(string(d.Code) + " " + d.Message)
}
