package dsl

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
)

// files reads below one root and nowhere else, but for folders that were opened
// besides.
type files struct {
	root    string // absolute
	shown   string // how people wrote the folder of the spec
	spec    string // that folder, absolute
	opened  []string
	foreign *Foreign
	other   func(path string) ([]byte, error)            // Options.Read
	list    func(dir string, most int) ([]Listed, error) // Options.List
}

func newFiles(root, spec, shown string, o Options) *files {
	return &files{root: root, spec: spec, shown: shown, opened: real(o.AllowPaths), foreign: &Foreign{}, other: o.Read, list: o.List}
}

// ErrOnDisk is what an Options.Read answers of a file that is as it is on disk.
var ErrOnDisk = errors.New("the file is as on disk")

// rootMarks make a folder the root of a project.
var rootMarks = []string{".git", "pex.lock"}

// ProjectRoot is the nearest ancestor of a folder that has a mark, else the
// folder itself.
func ProjectRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if marked(at) {
			return at
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

// marked says that a folder is the root of a project.
func marked(dir string) bool {
	return slices.ContainsFunc(rootMarks, func(mark string) bool {
		_, err := os.Lstat(filepath.Join(dir, mark))
		return err == nil
	})
}

// name is how a path is shown: as people wrote the spec's.
func (f *files) name(abs string) string {
	rel, err := filepath.Rel(f.spec, abs)
	if err != nil {
		return abs
	}
	return filepath.ToSlash(filepath.Join(f.shown, rel))
}

// refusal is a file that is not read, and why.
type refusal struct {
	code    diag.Code
	message string
	diag.Advice
}

// read opens a file that a source names and returns it as a source. What lies
// outside of the root, or was led to from there, is foreign.
func (f *files) read(from *syntax.Source, name string) (*syntax.Source, *refusal) {
	abs, no := f.resolve(from, name)
	if no != nil {
		return nil, no
	}
	in, outside := f.around(abs)
	if in == nil {
		_, no := f.confine(abs, name)
		no.Hint += allowHint
		return nil, no
	}
	src, no := in.open(abs, name)
	if no != nil {
		return nil, no
	}
	if src.Foreign = outside || from.Foreign; src.Foreign {
		f.foreign.add(f.relative(abs), src)
	}
	return src, nil
}

// resolve is the absolute path that a source names; it may be outside the root.
func (f *files) resolve(from *syntax.Source, name string) (string, *refusal) {
	if strings.ContainsRune(name, 0) || strings.TrimSpace(name) == "" {
		return "", &refusal{code: diag.Unreadable, message: fmt.Sprintf("%q is no path", name)}
	}
	if filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return "", &refusal{diag.OutsideRoot, fmt.Sprintf("%s is absolute", name), diag.Advice{Hint: "paths are relative to the file that names them"}}
	}
	if strings.HasSuffix(name, "/") {
		return "", &refusal{code: diag.Unreadable, message: name + " is no regular file"}
	}
	dir := f.spec // of a flag or a variable: it stands in the spec
	if from.Path != "" {
		dir = from.Dir()
	}
	return filepath.Join(dir, filepath.FromSlash(name)), nil
}

// open reads a file by its absolute path.
func (f *files) open(abs, written string) (*syntax.Source, *refusal) {
	rel, no := f.confine(abs, written)
	if no != nil {
		return nil, no
	}
	b, err := f.first(rel, syntax.MaxFile+1)
	switch {
	case err != nil:
		return nil, f.unreadable(err, rel, written)
	case len(b) > syntax.MaxFile:
		return nil, &refusal{code: diag.TooLarge, message: fmt.Sprintf("%s is larger than %d bytes", written, syntax.MaxFile)}
	}
	return &syntax.Source{Name: f.name(abs), Path: abs, Text: b}, nil
}

// unreadable says why a file was not read.
func (f *files) unreadable(err error, rel, written string) *refusal {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &refusal{diag.Unreadable, written + " does not exist", f.neighbours(rel)}
	case errors.Is(err, errNotFile):
		return &refusal{code: diag.Unreadable, message: written + " is no regular file"}
	case strings.Contains(err.Error(), "escapes"):
		return &refusal{diag.OutsideRoot, written + " leads out of the project by a link", diag.Advice{Hint: "files are read below " + f.rootName() + "; --root names another root"}}
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return &refusal{code: diag.Unreadable, message: fmt.Sprintf("%s cannot be read: %v", written, err)}
}

// confine is a path as seen from the root, which it must not leave.
func (f *files) confine(abs, written string) (rel string, no *refusal) {
	rel, err := filepath.Rel(f.root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", &refusal{diag.OutsideRoot, written + " leads out of the project", diag.Advice{Hint: "files are read below " + f.rootName() + "; --root names another root"}}
	}
	return rel, nil
}

// begin reads the first bytes of a file that may be of any size.
func (f *files) begin(abs, written string, most int64) ([]byte, *refusal) {
	rel, no := f.confine(abs, written)
	if no != nil {
		return nil, no
	}
	b, err := f.first(rel, most)
	if err != nil {
		return nil, f.unreadable(err, rel, written)
	}
	return b, nil
}

// has says whether there is a file at a path below the root.
func (f *files) has(abs string) bool {
	rel, no := f.confine(abs, abs)
	if no != nil {
		return false
	}
	_, err := f.first(rel, 1)
	return err == nil
}

func (f *files) rootName() string {
	if f.root == f.spec {
		return "the spec's folder (no folder above it has .git or pex.lock)"
	}
	return f.name(f.root)
}

var errNotFile = errors.New("no regular file")

// first reads at most so many bytes of a file. A pipe is never waited for: it
// is not opened, and if it takes a file's place in between, it is opened
// without blocking.
func (f *files) first(rel string, most int64) ([]byte, error) {
	if f.other != nil {
		b, err := f.other(filepath.Join(f.root, rel))
		if !errors.Is(err, ErrOnDisk) {
			return b[:min(int64(len(b)), most)], err
		}
	}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(rel)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotFile
	}
	file, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errNotFile)
	}
	return io.ReadAll(io.LimitReader(file, most))
}

// neighbours is a hint: a file of nearly that name beside it.
func (f *files) neighbours(rel string) diag.Advice {
	const most = 500
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return diag.Advice{}
	}
	defer root.Close()
	dir, err := root.Open(filepath.Dir(rel))
	if err != nil {
		return diag.Advice{}
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(most)
	if near := nearestFile(filepath.Base(rel), names); near != "" && near != filepath.Base(rel) {
		return diag.DidYouMean(filepath.Base(rel), near, "")
	}
	return diag.Advice{}
}

// nearestFile returns the file that a misspelt name most likely stands for; "" =
// none is near. An extension that both have makes no name nearer.
func nearestFile(name string, files []string) string {
	ext := strings.TrimPrefix(filepath.Ext(name), ".")
	var stems, others []string
	for _, f := range files {
		if stem, ok := strings.CutSuffix(f, ext); ok {
			stems = append(stems, stem) // with the dot
		} else {
			others = append(others, f)
		}
	}
	if near := diag.Nearest(strings.TrimSuffix(name, ext), stems); near != "" {
		return near + ext
	}
	return diag.Nearest(name, others)
}
