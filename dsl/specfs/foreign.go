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

// Foreign is what of a spec comes from elsewhere: files outside of the project
// root, those that they lead to, and what is defined there.
type Foreign struct {
	Files []ForeignFile // as they were read, in that order
	Parts []ForeignPart // in the order in which they were compiled
}

// ForeignFile is a file outside of the project, or one that such a file names.
type ForeignFile struct {
	Name   string // as diagnostics name it
	Path   string // relative to the project root, with slashes: the same on every machine
	Digest string // "sha256:" and hex of its bytes, as they were read
}

// ForeignPart is a tool or llm that is defined in a foreign file. One of Tool
// and Model is set.
type ForeignPart struct {
	File   string // as diagnostics name it
	Path   string // tools.NAME or llms.NAME
	Tool   *tool.Spec
	Model  *engine.ModelSpec
	Source json.RawMessage // the entry as resolved, its references as written
}

// Digest is one for the files, "sha256:" and hex: where a byte of one differs,
// its name, or which there are, it is another. It is "" without files.
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

// Add notes a file; one that was read twice is noted twice where it changed in
// between.
func (f *Foreign) Add(path string, src *syntax.Source) {
	file := ForeignFile{Name: src.Name, Path: path, Digest: Digest(src.Text)}
	if !slices.Contains(f.Files, file) {
		f.Files = append(f.Files, file)
	}
}

// AllowHint ends the hint of a refusal that --allow-path would lift.
const AllowHint = "; allow a directory outside it with --allow-path"

// around is the files of the folder that a path lies in: the root, or one that
// was opened besides, which is outside; nil = neither.
func (f *Reader) around(abs string) (in *Reader, outside bool) {
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

// FromRoot is a path as it is from the root.
func (f *Reader) FromRoot(abs string) string {
	if rel, err := filepath.Rel(f.Root, abs); err == nil {
		abs = rel
	}
	return filepath.ToSlash(abs)
}

// real is folders by their absolute paths without links; those that there are not
// are left out.
func real(dirs []string) []string {
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

// Digest names a content.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
