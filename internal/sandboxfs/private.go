package sandboxfs

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// locations returns the comparable forms of folders: as given and with links resolved, both normalized, because file
// systems may ignore case.
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

// location returns an absolute slash-separated path with each name normalized.
func location(abs string) string {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(abs)), "/")
	for i, part := range parts {
		parts[i] = normalizeName(part)
	}
	return strings.Join(parts, "/")
}

// enterable returns an error for a resolved path that is private or in a private folder.
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

// changeable returns an error for a resolved path that tools must not write.
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

// absolute returns the absolute form of a resolved path below the root.
func (t *Tree) absolute(rel string) string {
	return filepath.Join(t.real, filepath.FromSlash(t.at), filepath.FromSlash(rel))
}

// Changeable returns an error for a file below the root that tools must not write. content is its future content, or
// nil if unknown.
func (t *Tree) Changeable(rel string, content []byte) error {
	rel, err := t.follow(rel)
	if err != nil {
		return err
	}
	return t.changeable(rel, content)
}
