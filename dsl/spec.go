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

// Options are the options of Load and Compile.
type Options struct {
	Catalog engine.Catalog
	// Checks are the kinds of checks that tests and suites may use.
	Checks component.Blueprints
	// Root is the folder that contains all files; "" for the nearest ancestor of
	// the spec with .git or pex.lock, or else the spec's folder.
	Root string
	// Address is the URL from which the file was fetched. It is the file's name,
	// and all of the file is foreign. "" for a file of the author.
	Address string
	// Set are overrides "path=yaml"; later ones win.
	Set []string
	// Prompts are new texts of prompts, by engine.Prompt.Name; a name without a dot is that
	// of a named prompt. They apply after the overrides, and change nothing else: an edit of
	// anything but a prompt for models is an error.
	Prompts map[string]string
	// Environ is the environment in the form of os.Environ. Its PEX_SET_<PATH>
	// variables are overrides; nothing else of it is read.
	Environ []string
	// AllowPaths are folders outside Root that tools may use, and that may contain
	// included files, called specs and prompts, which are then foreign.
	AllowPaths []string
	// Prices are the prices of LLMs without cost in their spec; nil for none.
	Prices *pricing.Table
	// Pins reads the pins of servers in the project of a root; nil to skip the
	// check.
	Pins func(root string) (*lockfile.Lock, error)
	// Analyzers check each spec that compiles, including those that it calls.
	Analyzers []Analyzer
	// Ignored receives each warning that a comment suppresses, from Vet only; nil
	// drops them.
	Ignored func(diag.Ignored)
	// Read returns files that differ from those on disk, by absolute path: unsaved
	// files of an editor, files of another commit. With the error ErrOnDisk, or if
	// Read is nil, the disk is read. The limits of the root apply.
	Read func(path string) ([]byte, error)
	// List returns the files below a folder, by its absolute path, like Read for
	// texts: at most most files, and one more if there are more. With the error
	// ErrOnDisk, or if List is nil, the disk is read.
	List func(dir string, most int) ([]specfs.FileEntry, error)
	// Insecure allows a Server to listen on an address that other machines can reach
	// without auth.
	Insecure bool
	// Context cancels work whose result is no longer needed. The result is then
	// incomplete and must be ignored; nil means no cancellation.
	Context context.Context
	// Programs caches the compiled specs of tests and suites; nil for a separate
	// cache per call.
	Programs *Programs

	vetting bool // set by Vet: a key with required:"vet" is an error
}

// access returns what may be read besides the files below the root.
func (o *Options) access() specfs.Access {
	return specfs.Access{AllowPaths: o.AllowPaths, Read: o.Read, List: o.List}
}

// cancelled reports whether the result is no longer needed.
func (o *Options) cancelled() bool { return o.Context != nil && o.Context.Err() != nil }

// Spec is a spec as written, with the overrides applied. It is read-only.
type Spec struct {
	File string // absolute
	// Agent is the name of the file's agent that it is; "" for the spec itself.
	Agent string
	Dir   string // absolute: the folder of relative paths
	Root  string // absolute
	Kind  string // Agent or Library
	// Files are the absolute paths of the files read, the spec first, for watching.
	Files []string
	// Foreign is the part of it that comes from outside Root; it is never nil.
	Foreign *specfs.Foreign

	tree     *syntax.Node
	files    *specfs.Reader
	pinOf    func(file, entry string) *lockfile.Entry
	defaults []config.Origin
	program  *engine.Program
	subject  *testspec.Subject // of its tests; nil if it does not compile
	found    diag.List
	agents   []*Spec
	depth    int      // of nested agents: 1 if it calls none
	places   int      // that call an agent, including itself
	models   []string // LLMs in use
	llms     map[string]*syntax.Node
	uses     map[string]bool
	callees  []guard.Tool
}

// Path returns the file with its agent, in the form that Load accepts.
func (s *Spec) Path() string { return s.File + s.fragment() }

// fragment returns "#" and the agent, or "".
func (s *Spec) fragment() string {
	if s.Agent == "" {
		return ""
	}
	return "#" + s.Agent
}

// Read reads a file below Root by its absolute path, as Load does: from
// Options.Read if it has the file. Of a larger file it returns the first most
// bytes.
func (s *Spec) Read(path string, most int64) ([]byte, error) {
	rel, no := s.files.Relative(path, path)
	if no != nil {
		return nil, errors.New(no.Message)
	}
	return s.files.ReadRelative(rel, most)
}

// Load reads a spec (a folder means its spec.yaml) and reports its mistakes. The
// Spec is nil only if there is nothing to show: the file cannot be read, or is
// not a mapping.
func Load(path string, o Options) (*Spec, diag.List) {
	l := newLoader(o)
	s := l.load(path)
	found := l.Report.List.Sort()
	if s != nil {
		s.found = found
	}
	return s, found
}

// Compile returns the program of a spec with an empty list, or nil with the
// diagnostics of Load.
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

// Compile loads a spec and returns its program with all diagnostics, including
// warnings. The program is nil if there is an error.
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

// Folder returns the regular files below a folder under Root, by its absolute
// path, as Load does: from Options.List if it has the folder. They are sorted by
// name. Links, and what tools never see (.git, .pex, .env), are left out. If
// there are more than most files, it returns most+1. A missing folder has none.
func (s *Spec) Folder(dir string, most int) ([]specfs.FileEntry, error) {
	rel, no := s.files.Relative(dir, dir)
	if no != nil {
		return nil, errors.New(no.Message)
	}
	out, err := s.files.List(rel, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	out = slices.DeleteFunc(out, func(l specfs.FileEntry) bool { return slices.ContainsFunc(strings.Split(l.Name, "/"), specfs.IsHidden) })
	slices.SortFunc(out, func(a, b specfs.FileEntry) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(out), err
}

// Explain returns every value of a spec with its origin, sorted by path.
func (s *Spec) Explain() []config.Origin { return config.Origins(s.tree, s.defaults) }

// Format formats a file of any kind, with keys in the order of the language. See
// format.Source.
func Format(src []byte) ([]byte, diag.List) { return format.Source(src, language.KeyOrder) }
