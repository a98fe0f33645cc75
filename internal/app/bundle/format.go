package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/engine/model"
)

// format is the format of bundles: two lines, this one and the manifest as JSON, then the program
// and the contents of the files without anything between them.
const format = "pex-bundle 1"

// Bounds of bundles.
const (
	MaxSize = 64 << 20 // in bytes
	// MaxFiles is the maximum number of files beside the program.
	MaxFiles = 1000

	maxManifest = 4 << 20
	maxPath     = 1024
	maxElement  = 255 // of file systems
)

// manifest describes the contents. Its encoding is canonical: one program has one bundle.
type manifest struct {
	Version string                `json:"version"`          // of pexctl
	Name    string                `json:"name"`             // of the program
	Digest  string                `json:"digest"`           // of the program
	BuiltIn string                `json:"built_in"`         // digest of the prompts that the spec does not set
	Root    string                `json:"root"`             // the project
	Dir     string                `json:"dir"`              // the folder of the spec
	Spec    string                `json:"spec,omitempty"`   // its file, which the bundle does not have
	Allow   []string              `json:"allow,omitempty"`  // folders outside the project
	Prices  map[string]model.Cost `json:"prices,omitempty"` // see engine.Origin
	Program int                   `json:"program"`          // size in bytes
	Files   []file                `json:"files,omitempty"`  // sorted by path
	// Artifacts are the files of the user of one run, sorted by digest.
	Artifacts []upload `json:"artifacts,omitempty"`
}

// file is a file of the project.
type file struct {
	Path string `json:"path"` // with slashes
	Size int    `json:"size"`

	content []byte
}

// upload is an artifact.
type upload struct {
	SHA256 string `json:"sha256"` // lower-case hex
	Size   int    `json:"size"`

	content []byte
}

// ID returns the name of a bundle: "sha256:" and hex of its bytes.
func ID(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// encode returns the bytes of a bundle.
func encode(m *manifest, program []byte) ([]byte, error) {
	head, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	parts := [][]byte{[]byte(format), {'\n'}, head, {'\n'}, program}
	for _, f := range m.Files {
		parts = append(parts, f.content)
	}
	for _, a := range m.Artifacts {
		parts = append(parts, a.content)
	}
	return slices.Concat(parts...), nil
}

// decode returns the manifest and the program of a bundle. It does not copy the contents.
func decode(b []byte) (*manifest, []byte, error) {
	if len(b) > MaxSize {
		return nil, nil, damaged("it has more than %d MiB", MaxSize>>20)
	}
	first, rest, ok := bytes.Cut(b, []byte("\n"))
	switch name, _, _ := strings.Cut(format, " "); {
	case !ok || !bytes.HasPrefix(first, []byte(name+" ")) || len(first) > maxElement:
		return nil, nil, damaged("it does not start with %q", name)
	case string(first) != format:
		return nil, nil, &FormatError{string(first)}
	}
	head, rest, ok := bytes.Cut(rest, []byte("\n"))
	if !ok || len(head) > maxManifest {
		return nil, nil, damaged("it has no manifest")
	}
	var m manifest
	if err := json.Unmarshal(head, &m); err != nil {
		return nil, nil, damaged("manifest: %v", err)
	}
	if canonical, err := json.Marshal(&m); err != nil || !bytes.Equal(head, canonical) {
		return nil, nil, damaged("its manifest is not in the form that pexctl writes")
	}
	if err := m.checkPaths(); err != nil {
		return nil, nil, err
	}
	cut := func(n int) (part []byte) {
		if ok = ok && n >= 0 && n <= len(rest); ok {
			part, rest = rest[:n:n], rest[n:]
		}
		return part
	}
	program := cut(m.Program)
	for i := range m.Files {
		m.Files[i].content = cut(m.Files[i].Size)
	}
	for i := range m.Artifacts {
		m.Artifacts[i].content = cut(m.Artifacts[i].Size)
	}
	if !ok || len(rest) > 0 {
		return nil, nil, damaged("its size does not match its manifest")
	}
	return &m, program, m.checkContents(program)
}

// checkContents compares contents with their digests.
func (m *manifest) checkContents(program []byte) error {
	if specfs.Digest(program) != m.Digest {
		return damaged("its program does not match its digest")
	}
	for i, a := range m.Artifacts {
		if blob.Of(a.content).SHA256 != a.SHA256 || i > 0 && a.SHA256 <= m.Artifacts[i-1].SHA256 {
			return damaged("a file of the run does not match its digest")
		}
	}
	return nil
}

// checkPaths checks that all paths are within the bundle, and that no file system confuses two of
// them.
func (m *manifest) checkPaths() error {
	if len(m.Files)+len(m.Artifacts) > MaxFiles {
		return damaged("it has more than %d files", MaxFiles)
	}
	paths := slices.Concat([]string{m.Root, m.Dir}, m.Allow)
	if m.Spec != "" {
		paths = append(paths, m.Spec)
	}
	for _, p := range paths {
		if err := checkPath(p); err != nil {
			return err
		}
	}
	if !within(m.Root, m.Dir) || m.Spec != "" && !within(m.Root, m.Spec) {
		return damaged("the spec is outside of its project")
	}
	spelled := map[string]string{} // folders by their names in lower case
	for folder := m.Dir; folder != "."; folder = path.Dir(folder) {
		spelled[strings.ToLower(folder)] = folder
	}
	files := map[string]bool{}
	for i, f := range m.Files {
		if err := checkPath(f.Path); err != nil {
			return err
		}
		if i > 0 && f.Path <= m.Files[i-1].Path {
			return damaged("its files are not in order")
		}
		if files[strings.ToLower(f.Path)] {
			return damaged("two files differ only in case: %q", f.Path)
		}
		files[strings.ToLower(f.Path)] = true
		for folder := path.Dir(f.Path); folder != "."; folder = path.Dir(folder) {
			if other, known := spelled[strings.ToLower(folder)]; known && other != folder {
				return damaged("two folders differ only in case: %q", folder)
			}
			spelled[strings.ToLower(folder)] = folder
		}
	}
	for name := range files {
		if _, isFolder := spelled[name]; isFolder {
			return damaged("%q is a file and a folder", name)
		}
	}
	return nil
}

// checkPath checks that a path stays below the folder that it is relative to, on every system.
func checkPath(p string) error {
	bad := !fs.ValidPath(p) || p == "." || len(p) > maxPath || !utf8.ValidString(p) || !filepath.IsLocal(filepath.FromSlash(p)) ||
		strings.ContainsFunc(p, func(r rune) bool { return r == '\\' || unicode.IsControl(r) })
	for element := range strings.SplitSeq(p, "/") {
		bad = bad || len(element) > maxElement
	}
	if bad {
		return damaged("%.100q is not a path below the project", p)
	}
	return nil
}

// within reports whether a path of a bundle is a folder or below it.
func within(dir, p string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }
