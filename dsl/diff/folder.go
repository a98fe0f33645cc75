package diff

import (
	"bytes"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine/text"
)

// mostFiles is the maximum number of files of a folder to compare, mostWithin
// their maximum total size in bytes.
const (
	mostFiles  = 2000
	mostWithin = 64 << 20
)

// File is a file of a folder that differs.
type File struct {
	Path string     `json:"path"` // relative to the folder
	Kind ChangeKind `json:"what"` // added, removed, changed
}

// folder compares the files in a folder that a tool reads. It skips files of the
// spec, which are compared by meaning, and files that the tool excludes. A folder
// is reported once, even if several tools use it.
func (c *comparison) folder(at, name string, v, tool dsl.Value) {
	if i := slices.IndexFunc(c.changes, func(x Change) bool { return len(x.Files) > 0 && x.folder == path.Clean(name) }); i >= 0 {
		c.changes[i].Users = append(c.changes[i].Users, at)
		return
	}
	exclude := texts(tool.Get("exclude"))
	was, why := c.old.within(name, exclude)
	is, also := c.now.within(name, exclude)
	if why = first(why, also); why != "" {
		c.skipped = append(c.skipped, SkippedFolder{Path: at, Folder: name, Why: why})
		return
	}
	files, why := c.differing(name, was, is)
	switch {
	case why != "":
		c.skipped = append(c.skipped, SkippedFolder{Path: at, Folder: name, Why: why})
	case len(files) > 0:
		c.add(Change{
			Path: at, Kind: Changed, Old: text.Count(len(was), "file"), New: text.Count(len(is), "file"), At: placeOf(v.Place()),
			Note: "in " + name + ": " + countFiles(files), Files: files, folder: path.Clean(name),
		})
	}
}

// within lists a folder by its path relative to the spec. why explains why it
// cannot be compared, or is "".
func (s *side) within(name string, exclude []string) (out []specfs.FileEntry, why string) {
	dir := filepath.Join(s.spec.Dir, filepath.FromSlash(name))
	if filepath.IsAbs(name) {
		return nil, "it is outside the project"
	}
	out, err := s.spec.Folder(dir, mostFiles)
	switch {
	case err != nil:
		return nil, err.Error()
	case len(out) > mostFiles:
		return nil, fmt.Sprintf("it contains more than %d files", mostFiles)
	}
	return slices.DeleteFunc(out, func(l specfs.FileEntry) bool {
		return slices.Contains(s.spec.Files, filepath.Join(dir, filepath.FromSlash(l.Name))) || excluded(l.Name, exclude)
	}), ""
}

// excluded reports whether a pattern excludes a file, or a folder above it.
func excluded(name string, patterns []string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToLower(name), "/"), func(part string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			return text.Match(strings.ToLower(p), part)
		})
	})
}

// differing returns the files that differ between two sorted lists.
func (c *comparison) differing(dir string, was, is []specfs.FileEntry) (out []File, why string) {
	left := int64(mostWithin)
	for len(was)+len(is) > 0 {
		switch {
		case len(is) == 0 || len(was) > 0 && was[0].Name < is[0].Name:
			out, was = append(out, File{was[0].Name, Removed}), was[1:]
			continue
		case len(was) == 0 || is[0].Name < was[0].Name:
			out, is = append(out, File{is[0].Name, Added}), is[1:]
			continue
		case was[0].Size != is[0].Size:
			out = append(out, File{is[0].Name, Changed})
		case is[0].Size > left:
			return nil, fmt.Sprintf("it contains more than %d MiB", mostWithin>>20)
		default:
			left -= is[0].Size
			name := filepath.Join(filepath.FromSlash(dir), filepath.FromSlash(is[0].Name))
			before, had := c.old.open(name)
			after, has := c.now.open(name)
			if had != has || !bytes.Equal(before, after) {
				out = append(out, File{is[0].Name, Changed})
			}
		}
		was, is = was[1:], is[1:]
	}
	return out, ""
}

// countFiles counts the changed files by kind: 2 added, 1 changed.
func countFiles(files []File) string {
	var out []string
	for _, what := range []ChangeKind{Added, Changed, Removed} {
		n := 0
		for _, f := range files {
			if f.Kind == what {
				n++
			}
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, what))
		}
	}
	return strings.Join(out, ", ")
}
