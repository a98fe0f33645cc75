package speccmd

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// specRename describes a spec that moved from another path.
type specRename struct {
	From  string `json:"from"` // as the user would write it
	To    string `json:"to"`
	Alike int    `json:"alike"`            // similarity: percent of the bytes, in whole lines
	Named string `json:"called,omitempty"` // the metadata.name by which it was found; "" if by its lines
}

// text describes the rename.
func (r *specRename) text() string {
	switch {
	case r.Named != "":
		return "same name " + r.Named
	case r.Alike == 100:
		return "identical"
	}
	return fmt.Sprintf("%d %% similar", r.Alike)
}

const (
	leastAlike  = 50   // percent, as in git
	mostRenames = 1000 // maximum number of files to compare
)

// findRename searches for a moved spec if one side does not have the other side's
// path: of all files that only its side has, the most similar one, or else the
// only one with the same metadata.name. It does not apply if the user wrote both
// paths. Both sides are loaded afterwards.
func findRename(c *call, old, now *diffSide) (*specRename, error) {
	lacks, has := old, now
	if now.missing {
		lacks, has = now, old
	}
	if !lacks.missing || has.spec == nil || !old.same && !now.same || c.noRenames {
		return nil, nil
	}
	paths, err := lacks.onlyHere(c.Context, has)
	if err != nil {
		return nil, failure.Infra(err)
	}
	found, path, err := lacks.mostSimilar(c, has, paths)
	if found == nil || err != nil {
		return nil, err
	}
	lacks.move(path, strings.TrimPrefix(has.path, specfs.FileOf(has.path)))
	if found.From, found.To = relativePath(path), relativePath(has.spec.File); lacks == now {
		found.From, found.To = found.To, found.From
	}
	return found, loadBoth(c, lacks)
}

// mostSimilar returns the most similar file with its similarity, or nil.
func (s *diffSide) mostSimilar(c *call, has *diffSide, paths []string) (*specRename, string, error) {
	text, err := has.spec.Read(has.spec.File, mostCompared)
	if err != nil {
		return nil, "", failure.Infra(err)
	}
	name := has.spec.Tree().Get("metadata", "name").Text()
	best, most, namesakes := "", 0, []string{}
	for _, path := range paths {
		other, err := s.text(path)
		if err != nil {
			continue // unreadable files are skipped
		}
		if n := similarity(string(text), string(other)); n > most {
			best, most = path, n
		}
		if name != "" && strings.Contains(string(other), name) && s.hasName(c, path, name) {
			namesakes = append(namesakes, path)
		}
	}
	switch {
	case most >= leastAlike:
		return &specRename{Alike: most}, best, nil
	case len(namesakes) == 1:
		return &specRename{Named: name}, namesakes[0], nil
	}
	return nil, "", nil
}

// hasName reports whether a file is a spec with this metadata.name.
func (s *diffSide) hasName(c *call, path, name string) bool {
	try := *s
	try.move(path, "")
	_, err := try.load(c)
	return err == nil && try.spec != nil && try.spec.Tree().Get("metadata", "name").Text() == name
}

// move sets the path of a side, which is absolute.
func (s *diffSide) move(path, fragment string) {
	s.path, s.missing = relativePath(path)+fragment, false
}

// relativePath returns an absolute path relative to the working folder.
func relativePath(path string) string {
	if rel, err := filepath.Rel(fspath.Real("."), path); err == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}

// mostCompared is the maximum size to compare of a file: no spec is larger.
const mostCompared = 1 << 20

// text returns a file of a side, by its absolute path.
func (s *diffSide) text(path string) ([]byte, error) {
	if s.tree != nil {
		return s.tree.Read(path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostCompared {
		return nil, fs.ErrInvalid
	}
	return os.ReadFile(path)
}

// onlyHere returns the YAML files that only this side has, absolute and sorted.
func (s *diffSide) onlyHere(ctx context.Context, other *diffSide) ([]string, error) {
	tree, filter := s.tree, "--diff-filter=D"
	if tree == nil {
		tree, filter = other.tree, "--diff-filter=A"
	}
	args := []string{"diff", "--name-only", "-z", "--no-renames", "--no-relative", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", filter, tree.Commit}
	if tree != other.tree && other.tree != nil {
		args = append(args, other.tree.Commit)
	}
	out, err := tree.Repo.Compare(ctx, append(args, "--")...)
	if err != nil {
		return nil, fmt.Errorf("git diff: %w", err)
	}
	if s.tree == nil { // including untracked files
		more, err := tree.Repo.Output(ctx, "", "ls-files", "-z", "--others", "--exclude-standard")
		if err != nil {
			return nil, fmt.Errorf("git ls-files: %w", err)
		}
		out = append(out, more...)
	}
	var paths []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if ext := filepath.Ext(name); (ext == ".yaml" || ext == ".yml") && len(paths) < mostRenames {
			paths = append(paths, filepath.Join(tree.Repo.Top(), filepath.FromSlash(name)))
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// similarity returns the similarity of two texts in percent of the longer one: the
// bytes in common lines, in any order.
func similarity(a, b string) int {
	lines := map[string]int{}
	for line := range strings.Lines(a) {
		lines[strings.TrimRight(line, "\r\n")]++
	}
	same := 0
	for line := range strings.Lines(b) {
		if key := strings.TrimRight(line, "\r\n"); lines[key] > 0 {
			lines[key]--
			same += len(line)
		}
	}
	if longer := max(len(a), len(b)); longer > 0 {
		return min(100, 100*same/longer)
	}
	return 0
}
