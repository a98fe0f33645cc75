package dsl

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/format"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/lockfile"
)

// Options is what Load and Compile take beside the file.
type Options struct {
	Catalog engine.Catalog
	// Checks are the kinds of checks that tests and suites may name.
	Checks component.Blueprints
	// Root is the folder that no file leaves; "" = the nearest ancestor of the
	// spec with .git or pex.lock, else the spec's folder.
	Root string
	// Address is where the file was fetched from: it is called by it, and all of
	// it is foreign. "" = the file is its author's.
	Address string
	// Set are overrides "path=yaml", the later the stronger.
	Set []string
	// Environ is the environment as os.Environ gives it; PEX_SET_<PATH> in it
	// are overrides. Nothing else of it is read.
	Environ []string
	// AllowPaths are folders outside Root that tools may use, and where what is
	// included, called and read as a prompt may lie; it is then foreign.
	AllowPaths []string
	// Prices are what llms cost whose spec does not say it; nil knows none.
	Prices *pricing.Table
	// Pins reads what is pinned of servers in the project of that root; nil =
	// it is not looked at.
	Pins func(root string) (*lockfile.Lock, error)
	// Analyzers look at each spec that compiles, those that it calls included.
	Analyzers []Analyzer
	// Ignored receives each warning that a comment ignores, from Vet only; nil =
	// they are dropped.
	Ignored func(diag.Ignored)
	// Read gives files that are not as they are on disk, by their absolute paths:
	// what an editor has not saved, the files of another commit. With an error of
	// ErrOnDisk the disk is asked; nil = always. The bounds of the root hold.
	Read func(path string) ([]byte, error)
	// List gives the files below a folder, by its absolute path, as Read gives
	// their texts: at most so many, and one more where there are more. With an
	// error of ErrOnDisk the disk is asked; nil = always.
	List func(dir string, most int) ([]specfs.Listed, error)
	// Context cancels work whose result is no longer needed: what is found then is not
	// all, and says nothing. nil = it is always waited for.
	Context context.Context
	// Programs are the specs that tests and suites are of, compiled; nil = each
	// call compiles its own.
	Programs *Programs

	vetting bool // by Vet: a key with required:"vet" is an error
}

// access is what may be read besides the files below the root.
func (o *Options) access() specfs.Access {
	return specfs.Access{AllowPaths: o.AllowPaths, Read: o.Read, List: o.List}
}

// left says that the result is no longer needed.
func (o *Options) left() bool { return o.Context != nil && o.Context.Err() != nil }

// Spec is a spec as its author wrote it, with the overrides applied. It is
// only for reading.
type Spec struct {
	File string // absolute
	// Agent is the one of the file's agents that it is; "" = the spec itself.
	Agent string
	Dir   string // absolute: the folder that relative paths start from
	Root  string // absolute
	Kind  string // Agent or Library
	// Files lists what was read, absolute, the spec first: what to watch.
	Files []string
	// Foreign is what of it comes from outside Root; it is never nil.
	Foreign *specfs.Foreign

	tree     *syntax.Node
	files    *specfs.Reader
	pinOf    func(file, entry string) *lockfile.Entry
	defaults []config.Origin
	program  *engine.Program
	subject  *testspec.Subject // of its tests; nil = it does not compile
	found    diag.List
	agents   []*Spec
	depth    int      // of the agents that call each other: 1 = it calls none
	places   int      // that call an agent, with itself
	models   []string // llms that are used
	llms     map[string]*syntax.Node
	uses     map[string]bool
	callees  []guard.Tool
}

// Path is the file, with the agent in it that is meant: what Load takes.
func (s *Spec) Path() string { return s.File + s.fragment() }

// fragment is "#" and the agent, or "".
func (s *Spec) fragment() string {
	if s.Agent == "" {
		return ""
	}
	return "#" + s.Agent
}

// Read gives a file below Root, by its absolute path, as Load saw it: where
// Options.Read has it, that. Of a larger file the first most bytes are given.
func (s *Spec) Read(path string, most int64) ([]byte, error) {
	rel, no := s.files.Relative(path, path)
	if no != nil {
		return nil, errors.New(no.Message)
	}
	return s.files.ReadRelative(rel, most)
}

// Load reads a spec (a folder means its spec.yaml) and reports all that is
// wrong with it. The Spec is nil only when there is nothing to show: the file
// cannot be read, or is no mapping.
func Load(path string, o Options) (*Spec, diag.List) {
	l := newLoader(o)
	s := l.load(path)
	found := l.Report.List.Sort()
	if s != nil {
		s.found = found
	}
	return s, found
}

// Compile returns the program of a spec. The list is empty when there is one;
// else it holds what Load reported, and the program is nil.
func (s *Spec) Compile() (*engine.Program, diag.List) {
	if s.program != nil {
		return s.program, nil
	}
	found := s.found
	if !found.Failed() {
		r := syntax.Report{}
		r.Error(diag.WrongKind, s.tree.Position, "a file of kind: %s cannot be run", s.Kind).Hint = "include it from a spec of kind: Agent"
		found = append(slices.Clip(found), r.List...)
	}
	return nil, found
}

// Compile loads a spec and returns its program with everything reported, the
// warnings included. The program is nil when there is an error.
func Compile(path string, o Options) (*engine.Program, *Spec, diag.List) {
	s, found := Load(path, o)
	if s == nil {
		return nil, nil, found
	}
	p, more := s.Compile()
	if len(more) > 0 {
		found = more
	}
	return p, s, found
}

// Folder lists the regular files below a folder under Root, by its absolute
// path, as Load saw it: where Options.List has it, that. They are sorted by name.
// Links, and what tools never see (.git, .pex, .env), are left out. Of more than
// most files it gives most+1. A folder that there is not has none.
func (s *Spec) Folder(dir string, most int) ([]specfs.Listed, error) {
	rel, no := s.files.Relative(dir, dir)
	if no != nil {
		return nil, errors.New(no.Message)
	}
	out, err := s.files.List(rel, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	out = slices.DeleteFunc(out, func(l specfs.Listed) bool { return slices.ContainsFunc(strings.Split(l.Name, "/"), specfs.IsHidden) })
	slices.SortFunc(out, func(a, b specfs.Listed) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(out), err
}

// Explain lists every value of a spec with its origin, sorted by path.
func (s *Spec) Explain() []config.Origin { return config.Origins(s.tree, s.defaults) }

// Format gives a file of any kind its canonical layout, with keys in the order of
// the language. See format.Source.
func Format(src []byte) ([]byte, diag.List) { return format.Source(src, language.KeyOrder) }
