package dsl

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// defaultFile is what a folder stands for.
const defaultFile = "spec.yaml"

// loader takes one spec through the phases.
type loader struct {
	options Options
	report  *report
	files   *files
	read    []string // absolute paths, in order
	chain   []string // specs that are being compiled, the outermost first
}

func newLoader(o Options) *loader { return &loader{options: o, report: &report{}} }

// load runs every phase; later ones go on after errors, to report all.
func (l *loader) load(path string) *Spec {
	src := l.openSpec(path)
	if src == nil {
		return nil
	}
	return l.loadSource(src)
}

// openSpec finds the file, the root and how to name both.
func (l *loader) openSpec(path string) *source {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, defaultFile)
	}
	nowhere := place{src: &source{name: path}}
	abs, err := filepath.Abs(path)
	if err != nil {
		l.report.error(diag.Unreadable, nowhere, "%s: %v", path, err)
		return nil
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(real, filepath.Base(abs))
	}
	dir := filepath.Dir(abs)
	root := ProjectRoot(dir)
	if l.options.Root != "" {
		if root, err = filepath.Abs(l.options.Root); err == nil {
			root, err = filepath.EvalSymlinks(root)
		}
		if err != nil {
			l.report.error(diag.Unreadable, nowhere, "the root %s cannot be used: %v", l.options.Root, err)
			return nil
		}
	}
	l.files = &files{root: root, spec: dir, shown: filepath.Dir(path)}
	src, no := l.files.open(abs, path)
	if no != nil {
		l.refuse(nowhere, no)
		return nil
	}
	return src
}

func (l *loader) refuse(at place, no *refusal) {
	l.report.error(no.code, at, "%s", no.message).Hint = no.hint
}

// loadSource takes a read spec through parsing, includes, overrides and the
// compiler.
func (l *loader) loadSource(src *source) *Spec {
	l.read = append(l.read, src.path)
	tree := parse(src, l.report)
	if tree == nil {
		return nil
	}
	if tree.kind != dict {
		d := l.report.error(diag.WrongType, tree.place, "a spec is a mapping, not %s", tree.describe())
		d.Hint = "begin with apiVersion: pex/v1"
		return nil
	}
	l.include(tree, src)
	l.override(tree)
	return l.finish(tree, src)
}

// finish decodes, checks and lowers a whole tree.
func (l *loader) finish(tree *value, src *source) *Spec {
	s := &Spec{File: src.path, Dir: src.dir(), Root: l.files.root, tree: tree}
	l.chain = append(l.chain, src.path)
	defer func() { l.chain = l.chain[:len(l.chain)-1] }()
	before := len(l.report.list)
	c := newCompiler(l, tree, src.dir())
	p := c.compile()
	s.Kind, s.defaults = c.doc.Kind, c.defaults
	s.Files = l.read
	if p != nil && !l.report.failedSince(before) && !l.report.list.Failed() {
		for _, d := range l.report.list {
			if d.Severity == diag.Warning {
				p.Warnings = append(p.Warnings, warningText(d))
			}
		}
		s.program = p
	}
	return s
}

// warningText is a warning in a line, for a Program. A resumed run must warn
// as its first session did, so positions are left out.
func warningText(d diag.Diagnostic) string {
	return strings.TrimSpace(string(d.Code) + " " + d.Message)
}
