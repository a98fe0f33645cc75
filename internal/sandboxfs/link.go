package sandboxfs

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

const maxLinks = 40 // followed on one path, as many as Linux does

// follow is where a path leads by the links inside the root, so that a link
// does not open what the author closed. A path that leads out or nowhere comes
// back as it is: opening it says why it cannot be used.
func (t *Tree) follow(rel string) (string, error) {
	real, ok := t.resolved(rel)
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

// resolved is a path without links, as far as it exists; false = a link leads
// out of the root, or in a circle.
func (t *Tree) resolved(rel string) (string, bool) {
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
