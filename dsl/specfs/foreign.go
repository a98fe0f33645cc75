package specfs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
)

// Foreign is the part of a spec that comes from elsewhere: files outside the
// project root, files that they name, and what is defined in them.
type Foreign struct {
	Files []ForeignFile // in the order in which they were read
	Parts []ForeignPart // in the order in which they were compiled
}

// ForeignFile is a file outside the project, or a file that such a file names.
type ForeignFile struct {
	Name   string // as in diagnostics
	Path   string // relative to the project root, with slashes: the same on every machine
	Digest string // "sha256:" and hex of its bytes
}

// ForeignPart is a tool or LLM that is defined in a foreign file. One of Tool and
// Model is set.
type ForeignPart struct {
	File   string // as in diagnostics
	Path   string // tools.NAME or llms.NAME
	Tool   *tool.Spec
	Model  *engine.ModelSpec
	Source json.RawMessage // the entry as resolved, with references as written
}

// Digest returns one digest for all files, "sha256:" and hex. It changes with any
// byte or name of them, and with their set. It is "" without files.
func (f *Foreign) Digest() string {
	if len(f.Files) == 0 {
		return ""
	}
	lines := make([]string, len(f.Files))
	for i, file := range f.Files {
		lines[i] = file.Digest + " " + file.Path + "\n"
	}
	slices.Sort(lines)
	return Digest([]byte(strings.Join(lines, "")))
}

// Add records a file. A file that is read twice is recorded twice if it changed
// in between.
func (f *Foreign) Add(path string, src *syntax.Source) {
	file := ForeignFile{Name: src.Name, Path: path, Digest: Digest(src.Text)}
	if !slices.Contains(f.Files, file) {
		f.Files = append(f.Files, file)
	}
}

// AllowHint ends the hint of a refusal that --allow-path would avoid.
const AllowHint = "; allow a directory outside it with --allow-path"

// readerFor returns the Reader of the folder that contains a path: the root, or an
// allowed folder outside it, or nil.
func (f *Reader) readerFor(abs string) (in *Reader, outside bool) {
	if _, no := f.Relative(abs, abs); no == nil {
		return f, false
	}
	for _, dir := range f.opened {
		open := *f
		open.Root = dir
		if _, no := open.Relative(abs, abs); no == nil {
			return &open, true
		}
	}
	return nil, false
}

// FromRoot returns a path relative to the root.
func (f *Reader) FromRoot(abs string) string {
	if rel, err := filepath.Rel(f.Root, abs); err == nil {
		abs = rel
	}
	return filepath.ToSlash(abs)
}

// resolveFolders returns the absolute paths of folders with links resolved. It omits
// missing folders.
func resolveFolders(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		if abs, err := filepath.Abs(dir); err == nil {
			if abs, err = filepath.EvalSymlinks(abs); err == nil {
				out = append(out, abs)
			}
		}
	}
	return out
}

// Digest returns the digest of a content.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
