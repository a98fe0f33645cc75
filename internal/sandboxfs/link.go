package sandboxfs

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

const maxLinks = 40 // maximum on one path, as on Linux

// follow resolves links inside the root, so that a link cannot bypass exclusions. A path that leads outside or
// nowhere is returned unchanged; opening it returns the reason.
func (t *Tree) follow(rel string) (string, error) {
	real, ok := t.resolve(rel)
	if !ok {
		return rel, nil
	}
	if err := t.enterable(real); err != nil || real == rel {
		return rel, err
	}
	if by, closed := t.excluded(real); closed {
		return "", fmt.Errorf("path %q is closed to this tool (it is a link to %q, and its author excludes %s)", rel, real, by)
	}
	return real, nil
}

// resolve returns a path without links, as far as it exists. ok is false if a link leads outside of the root, or in
// a circle.
func (t *Tree) resolve(rel string) (string, bool) {
	at, rest := ".", rel
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		next := path.Join(at, name)
		if !filepath.IsLocal(filepath.FromSlash(next)) {
			return "", false
		}
		info, err := t.root.Lstat(next)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := t.root.Readlink(next)
		target = filepath.ToSlash(target)
		if links++; err != nil || links > maxLinks || path.IsAbs(target) {
			return "", false
		}
		rest = strings.TrimSuffix(target+"/"+rest, "/")
	}
	return at, true
}
