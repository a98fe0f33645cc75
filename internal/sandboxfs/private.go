package sandboxfs

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// locations returns the places of folders as they are compared: as given and with
// links followed, each folded, because a file system may ignore the case of names.
func locations(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		out = append(out, location(dir))
		if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
			out = append(out, location(real))
		}
	}
	return out
}

// location is an absolute path with slashes, each name folded.
func location(abs string) string {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(abs)), "/")
	for i, part := range parts {
		parts[i] = folded(part)
	}
	return strings.Join(parts, "/")
}

// enterable returns an error for a path, without links, that is private or in a
// private folder.
func (t *Tree) enterable(rel string) error {
	if len(t.private) == 0 {
		return nil
	}
	at := location(t.absolute(rel))
	for _, dir := range t.private {
		if at == dir || strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/") {
			return fmt.Errorf("path %q is closed to tools: it holds runs, memory, tokens or environment variables", rel)
		}
	}
	return nil
}

// changeable returns an error for a path, without links, that no tool writes.
func (t *Tree) changeable(rel string, content []byte) error {
	if err := writable(path.Join(filepath.ToSlash(t.at), rel)); err != nil {
		return err
	}
	if err := t.enterable(rel); err != nil || t.protect == nil {
		return err
	}
	if err := t.protect(t.absolute(rel), content); err != nil {
		return fmt.Errorf("%q is not written: %w; pass another path", rel, err)
	}
	return nil
}

// absolute is the path on this machine of one below the root, without links.
func (t *Tree) absolute(rel string) string {
	return filepath.Join(t.real, filepath.FromSlash(t.at), filepath.FromSlash(rel))
}

// Changeable returns an error for a file below the root that no tool writes;
// content is what it will hold, nil = unknown.
func (t *Tree) Changeable(rel string, content []byte) error {
	rel, err := t.follow(rel)
	if err != nil {
		return err
	}
	return t.changeable(rel, content)
}
