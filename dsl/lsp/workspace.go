package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl/specfs"
)

// diskFile is a file that is not open, as last read.
type diskFile struct {
	buffer *buffer
	size   int64
	time   time.Time
}

// Limits for reading names of other files.
const (
	maxWorkspace = 64
	maxDisk      = 256
	maxFile      = 1 << 20
)

// file returns a document by path: the open one, or else the file on disk. It
// returns nil if it is not a file, or too large. The caller must hold the lock.
func (s *server) file(path string) *buffer {
	if b := s.paths[path]; b != nil {
		return b
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil
	}
	if f := s.disk[path]; f != nil && f.size == info.Size() && f.time.Equal(info.ModTime()) {
		return f.buffer
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	if len(s.disk) >= maxDisk {
		clear(s.disk)
	}
	b := newBuffer(uriOf(path), path, 0, newText(string(text), s.inBytes))
	b.open = false
	s.disk[path] = &diskFile{b, info.Size(), info.ModTime()}
	return b
}

// workspace returns a document and the files whose names it can use: what it
// includes and extends, and for tests and suites the spec. For a prompt it is the
// workspace of the specs that read it. The document itself comes first.
func (s *server) workspace(b *buffer) []*buffer {
	out := []*buffer{b}
	if !b.spec() {
		for _, path := range s.readers(b.path) {
			if f := s.file(path); f != nil && s.names(f, b) {
				out = append(out, f)
			}
		}
	}
	for i := 0; i < len(out) && len(out) < maxWorkspace; i++ {
		for _, path := range s.relatives(out[i]) {
			if f := s.file(path); f != nil && !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// names reports whether a spec, or what it builds on, names a prompt, and not
// only an agent that it calls.
func (s *server) names(spec, prompt *buffer) bool {
	return slices.ContainsFunc(s.workspace(spec), func(f *buffer) bool { return slices.Contains(s.prompts(f), prompt) })
}

// readers returns the vetted files that read a file, sorted.
func (s *server) readers(path string) []string {
	var out []string
	for _, r := range s.roots {
		if r.reads[path] && r.path != path {
			out = append(out, r.path)
		}
	}
	slices.Sort(out)
	return out
}

// relatives returns the files that a document builds on.
func (s *server) relatives(b *buffer) []string {
	if !b.spec() {
		return nil
	}
	root := b.outline()
	var names []string
	for _, it := range root.Get("include").Entries() {
		names = append(names, it.String())
	}
	names = append(names, root.Get("extends").String(), root.Get("extends", "spec").String())
	switch b.kind() {
	case specfs.KindAgent, specfs.KindLibrary, specfs.KindPrices, specfs.KindServer, specfs.KindTokens:
	default:
		names = append(names, root.Get("spec").String(), "spec.yaml", "../spec.yaml", "../../spec.yaml")
		for _, it := range root.Get("specs").Entries() {
			names = append(names, it.String())
		}
		for _, variant := range root.Get("variants").Entries() {
			names = append(names, variant.Get("spec").String())
		}
	}
	var out []string
	for _, name := range names {
		if path := s.projectPath(b, name); path != "" {
			out = append(out, path)
		}
	}
	return out
}

// projectPath returns the path of a file that a document names, or "" if it does not
// exist or is outside the project.
func (s *server) projectPath(b *buffer, name string) string {
	name, _, _ = strings.Cut(name, "#")
	if name == "" || filepath.IsAbs(name) || strings.ContainsAny(name, "\x00\n") {
		return ""
	}
	dir := filepath.Dir(b.path)
	root := s.options.Spec.Root
	if root == "" {
		root = specfs.Root(dir)
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if rel, err := filepath.Rel(filepath.Dir(resolveLinks(filepath.Join(root, "x"))), path); err != nil || strings.HasPrefix(rel, "..") {
		return ""
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "spec.yaml")
	}
	return path
}
