package dsl

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pexctl/pex/dsl/diag"
)

// files reads below one root and nowhere else.
type files struct {
	root  string // absolute
	shown string // how people wrote the folder of the spec
	spec  string // that folder, absolute
}

// rootMarks make a folder the root of a project.
var rootMarks = []string{".git", "pex.lock"}

// ProjectRoot is the nearest ancestor of a folder that has a mark, else the
// folder itself.
func ProjectRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		for _, mark := range rootMarks {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return at
			}
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
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
	hint    string
}

// read opens a file that a source names and returns it as a source.
func (f *files) read(from *source, name string) (*source, *refusal) {
	if strings.ContainsRune(name, 0) || strings.TrimSpace(name) == "" {
		return nil, &refusal{diag.Unreadable, fmt.Sprintf("%q is no path", name), ""}
	}
	if filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return nil, &refusal{diag.OutsideRoot, fmt.Sprintf("%s is absolute", name), "paths are relative to the file that names them"}
	}
	if strings.HasSuffix(name, "/") {
		return nil, &refusal{diag.Unreadable, name + " is no regular file", ""}
	}
	dir := f.spec // of a flag or a variable: it stands in the spec
	if from.path != "" {
		dir = from.dir()
	}
	return f.open(filepath.Join(dir, filepath.FromSlash(name)), name)
}

// open reads a file by its absolute path.
func (f *files) open(abs, written string) (*source, *refusal) {
	rel, err := filepath.Rel(f.root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return nil, &refusal{diag.OutsideRoot, written + " leads out of the project", "files are read below " + f.rootName() + "; --root names another root"}
	}
	b, err := f.bytes(rel)
	switch {
	case err == nil && len(b) > maxFile:
		return nil, &refusal{diag.TooLarge, fmt.Sprintf("%s is larger than %d bytes", written, maxFile), ""}
	case err == nil:
		return &source{name: f.name(abs), path: abs, text: b}, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &refusal{diag.Unreadable, written + " does not exist", f.neighbours(rel)}
	case errors.Is(err, errNotFile):
		return nil, &refusal{diag.Unreadable, written + " is no regular file", ""}
	case strings.Contains(err.Error(), "escapes"):
		return nil, &refusal{diag.OutsideRoot, written + " leads out of the project by a link", "files are read below " + f.rootName() + "; --root names another root"}
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return nil, &refusal{diag.Unreadable, fmt.Sprintf("%s cannot be read: %v", written, err), ""}
}

func (f *files) rootName() string {
	if f.root == f.spec {
		return "the spec's folder (no folder above it has .git or pex.lock)"
	}
	return f.name(f.root)
}

var errNotFile = errors.New("no regular file")

// bytes reads at most one byte more than a file may have. A pipe is never
// waited for: it is not opened, and if it takes a file's place in between, it
// is opened without blocking.
func (f *files) bytes(rel string) ([]byte, error) {
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
	return io.ReadAll(io.LimitReader(file, maxFile+1))
}

// neighbours is a hint: a file of nearly that name beside it.
func (f *files) neighbours(rel string) string {
	const most = 500
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return ""
	}
	defer root.Close()
	dir, err := root.Open(filepath.Dir(rel))
	if err != nil {
		return ""
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(most)
	if near := diag.Nearest(filepath.Base(rel), names); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}
