package specfs

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

// Reader reads files below one root and in allowed folders, and nowhere else.
type Reader struct {
	Root    string // absolute
	shown   string // the folder of the spec as the user wrote it
	spec    string // that folder, absolute
	opened  []string
	Foreign *Foreign // what was read from outside the root
	access  Access
}

// Access defines what may be read besides the files below a root, and how.
type Access struct {
	// AllowPaths are folders outside the root that may be read.
	AllowPaths []string
	// Read returns files that differ from those on disk, by absolute path. With the
	// error ErrOnDisk, or if Read is nil, the disk is read.
	Read func(path string) ([]byte, error)
	// List returns the files below a folder, by its absolute path, like Read for
	// texts: at most most files, and one more if there are more. With the error
	// ErrOnDisk, or if List is nil, the disk is read.
	List func(dir string, most int) ([]FileEntry, error)
}

// NewReader returns a Reader for a root. spec is the absolute folder of the spec,
// shown the folder as the user wrote it.
func NewReader(root, spec, shown string, a Access) *Reader {
	return &Reader{Root: root, spec: spec, shown: shown, opened: resolveFolders(a.AllowPaths), Foreign: &Foreign{}, access: a}
}

// ErrOnDisk is the error of Options.Read for a file that equals the one on disk.
var ErrOnDisk = errors.New("the file equals the one on disk")

// rootMarks mark a folder as the root of a project.
var rootMarks = []string{".git", "pex.lock"}

// Root returns the nearest ancestor of a folder with a mark, or else the folder
// itself.
func Root(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if IsRoot(at) {
			return at
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}

// IsRoot reports whether a folder is the root of a project.
func IsRoot(dir string) bool {
	return slices.ContainsFunc(rootMarks, func(mark string) bool {
		_, err := os.Lstat(filepath.Join(dir, mark))
		return err == nil
	})
}

// Shown returns a path in the form of the spec's path.
func (f *Reader) Shown(abs string) string {
	rel, err := filepath.Rel(f.spec, abs)
	if err != nil {
		return abs
	}
	return filepath.ToSlash(filepath.Join(f.shown, rel))
}

// Refusal is the reason why a file is not read.
type Refusal struct {
	Code    diag.Code
	Message string
	diag.Advice
}

// Read opens a file that a source names and returns it as a source. Files outside
// the root, and files that they name, are foreign.
func (f *Reader) Read(from *syntax.Source, name string) (*syntax.Source, *Refusal) {
	abs, no := f.Resolve(from, name)
	if no != nil {
		return nil, no
	}
	in, outside := f.readerFor(abs)
	if in == nil {
		_, no := f.Relative(abs, name)
		no.Hint += AllowHint
		return nil, no
	}
	src, no := in.Open(abs, name)
	switch {
	case no != nil && no.Code == diag.Unreadable && no.Hint == "" && from.Path != "":
		no.Hint = "paths are relative to the folder of " + from.Name
		fallthrough
	case no != nil:
		return nil, no
	}
	if src.Foreign = outside || from.Foreign; src.Foreign {
		f.Foreign.Add(f.FromRoot(abs), src)
	}
	return src, nil
}

// Resolve returns the absolute path that a source names; it may be outside the
// root.
func (f *Reader) Resolve(from *syntax.Source, name string) (string, *Refusal) {
	if strings.ContainsRune(name, 0) || strings.TrimSpace(name) == "" {
		return "", &Refusal{Code: diag.Unreadable, Message: fmt.Sprintf("%q is not a path", name)}
	}
	if filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return "", &Refusal{diag.OutsideRoot, fmt.Sprintf("the path %s is absolute", name), diag.Advice{Hint: "write a path relative to the file that contains it"}}
	}
	if strings.HasSuffix(name, "/") {
		return "", &Refusal{Code: diag.Unreadable, Message: name + " is not a regular file"}
	}
	dir := f.spec // a flag or a variable applies to the spec
	if from.Path != "" {
		dir = from.Dir()
	}
	return filepath.Join(dir, filepath.FromSlash(name)), nil
}

// OpenAllowed is like Open, also for files in allowed folders.
func (f *Reader) OpenAllowed(abs, written string) (*syntax.Source, *Refusal) {
	if in, _ := f.readerFor(abs); in != nil {
		return in.Open(abs, written)
	}
	return f.Open(abs, written)
}

// Open reads a file by its absolute path.
func (f *Reader) Open(abs, written string) (*syntax.Source, *Refusal) {
	rel, no := f.Relative(abs, written)
	if no != nil {
		return nil, no
	}
	b, err := f.ReadRelative(rel, syntax.MaxFile+1)
	switch {
	case err != nil:
		return nil, f.unreadable(err, rel, written)
	case len(b) > syntax.MaxFile:
		return nil, &Refusal{Code: diag.TooLarge, Message: fmt.Sprintf("%s is larger than the maximum of %d MiB", written, syntax.MaxFile>>20), Advice: diag.Advice{Hint: tooLargeHint}}
	}
	return &syntax.Source{Name: f.Shown(abs), Path: abs, Text: b}, nil
}

const tooLargeHint = "move data to a dataset or to files that tools read (read_file, retrieve); move shared parts to files of kind: Library, and include them"

// unreadable returns the reason why a file was not read.
func (f *Reader) unreadable(err error, rel, written string) *Refusal {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Refusal{diag.Unreadable, written + " does not exist", f.suggest(rel)}
	case errors.Is(err, ErrNotFile):
		return &Refusal{Code: diag.Unreadable, Message: written + " is not a regular file"}
	case strings.Contains(err.Error(), "escapes"):
		return &Refusal{diag.OutsideRoot, written + " is outside the project: a symbolic link leads out of it", diag.Advice{Hint: "files are read below " + f.rootName() + "; set another root with --root"}}
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return &Refusal{Code: diag.Unreadable, Message: fmt.Sprintf("cannot read %s: %v", written, err)}
}

// Relative returns a path relative to the root, which must contain it.
func (f *Reader) Relative(abs, written string) (rel string, no *Refusal) {
	rel, err := filepath.Rel(f.Root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", &Refusal{diag.OutsideRoot, written + " is outside the project", diag.Advice{Hint: "files are read below " + f.rootName() + "; set another root with --root"}}
	}
	return rel, nil
}

// Head reads the first bytes of a file of any size.
func (f *Reader) Head(abs, written string, most int64) ([]byte, *Refusal) {
	rel, no := f.Relative(abs, written)
	if no != nil {
		return nil, no
	}
	b, err := f.ReadRelative(rel, most)
	if err != nil {
		return nil, f.unreadable(err, rel, written)
	}
	return b, nil
}

// Exists reports whether there is a file at a path below the root.
func (f *Reader) Exists(abs string) bool {
	rel, no := f.Relative(abs, abs)
	if no != nil {
		return false
	}
	_, err := f.ReadRelative(rel, 1)
	return err == nil
}

func (f *Reader) rootName() string {
	switch {
	case f.Root != f.spec:
		return f.Shown(f.Root)
	case IsRoot(f.Root), Root(f.Root) != f.Root: // the latter with --root
		return "the spec's directory, the project root"
	}
	return "the spec's directory (neither it nor a directory above it has .git or pex.lock)"
}

// ErrNotFile is the error for a path that is not a regular file.
var ErrNotFile = errors.New("not a regular file")

// ReadRelative reads at most most bytes of a file. It never waits for a pipe: it
// does not open one, and opens without blocking in case one replaces the file in
// between.
func (f *Reader) ReadRelative(rel string, most int64) ([]byte, error) {
	if f.access.Read != nil {
		b, err := f.access.Read(filepath.Join(f.Root, rel))
		if !errors.Is(err, ErrOnDisk) {
			return b[:min(int64(len(b)), most)], err
		}
	}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(rel)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotFile
	}
	file, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, ErrNotFile)
	}
	return io.ReadAll(io.LimitReader(file, most))
}

// suggest returns a hint: a file with a similar name in the same folder.
func (f *Reader) suggest(rel string) diag.Advice {
	const most = 500
	root, err := os.OpenRoot(f.Root)
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

// nearestFile returns the file that a misspelled name most likely means, or "" if
// none is near. A common extension does not make a name nearer.
func nearestFile(name string, files []string) string {
	ext := strings.TrimPrefix(filepath.Ext(name), ".")
	var stems, others []string
	for _, f := range files {
		if stem, ok := strings.CutSuffix(f, ext); ok {
			stems = append(stems, stem) // including the dot
		} else {
			others = append(others, f)
		}
	}
	if near := diag.Nearest(strings.TrimSuffix(name, ext), stems); near != "" {
		return near + ext
	}
	return diag.Nearest(name, others)
}
