package bundle

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// layout converts paths of the author's machine to paths of a bundle, which tell nothing about
// the folders around the project. A project at "project" may use folders outside of it; the names
// of the folders above it are then replaced:
//
//	/home/ann/work/agents          project/project
//	/home/ann/work/shared          project/shared
type layout struct {
	root string // absolute
	name string // of the project and of the folders above it
	up   int    // number of folders above it that are in the bundle
}

// newLayout returns the layout of a project for all paths that its bundle has.
func newLayout(root string, paths []string) (*layout, error) {
	l := &layout{root: root, name: "project"}
	var outside []string // names of the first folders outside
	for _, p := range paths {
		up, below, err := l.relative(p)
		if err != nil {
			return nil, err
		}
		if l.up = max(l.up, up); up > 0 {
			first, _, _ := strings.Cut(below, "/")
			outside = append(outside, first)
		}
	}
	for slices.ContainsFunc(outside, func(first string) bool { return strings.EqualFold(first, l.name) }) {
		l.name += "_"
	}
	return l, nil
}

// relative returns how many folders above the root a path starts, and its path below there.
func (l *layout) relative(abs string) (up int, below string, err error) {
	rel, err := filepath.Rel(l.root, abs)
	if err != nil {
		return 0, "", fmt.Errorf("no path leads from the project to %s", abs)
	}
	below = filepath.ToSlash(rel)
	for below == ".." || strings.HasPrefix(below, "../") {
		up, below = up+1, strings.TrimPrefix(strings.TrimPrefix(below, ".."), "/")
	}
	return up, below, nil
}

// path returns the path in the bundle.
func (l *layout) path(abs string) (string, error) {
	up, below, err := l.relative(abs)
	if err != nil {
		return "", err
	}
	return path.Join(strings.Repeat(l.name+"/", l.up+1-up), below), nil
}
