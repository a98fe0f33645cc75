package gitfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/git"
)

// maxFetched is the maximum number of bytes of a folder's files read at once.
const maxFetched = 64 << 20

// errLink is returned if a commit has a link where a folder is expected. Commits do not contain link targets.
var errLink = errors.New("is a link")

// List implements dsl.Options.List. It returns the files in a commit below a folder.
func (g *GitTree) List(dir string, most int) ([]specfs.FileEntry, error) {
	rel, inside := g.place(dir)
	if !inside {
		return nil, specfs.ErrOnDisk
	}
	if sub, err := g.submodule(rel); sub != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return sub.List(dir, most)
	}
	args := []string{"--literal-pathspecs", "ls-tree", "-r", "-l", "-z", "--full-tree", g.Commit}
	if rel != "" {
		args = append(args, "--", rel)
	}
	out, err := g.Repo.Output(g.ctx, "", args...)
	if err != nil {
		return nil, fmt.Errorf("git ls-tree: %w", err)
	}
	var files []specfs.FileEntry
	for entry := range strings.SplitSeq(string(out), "\x00") {
		head, name, _ := strings.Cut(entry, "\t")
		f := strings.Fields(head) // mode, kind, id, size
		if len(f) == 4 && f[0] == "120000" && name == rel {
			return nil, errLink
		}
		if len(f) != 4 || f[1] != "blob" || f[0] == "120000" || name == rel {
			continue
		}
		size, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git ls-tree: %w", err)
		}
		if files = append(files, specfs.FileEntry{Name: strings.TrimPrefix(strings.TrimPrefix(name, rel), "/"), Size: size}); len(files) > most {
			return files, nil
		}
	}
	return files, g.fetch(rel, files)
}

// fetch reads the files of a folder with one git process.
func (g *GitTree) fetch(rel string, files []specfs.FileEntry) error {
	var asked strings.Builder
	var names []string
	total := int64(0)
	for _, f := range files {
		name := strings.TrimPrefix(rel+"/"+f.Name, "/")
		if _, known := g.known[name]; known || strings.ContainsAny(name, "\n\x00") {
			continue
		}
		if total += f.Size; total > maxFetched {
			break
		}
		names = append(names, name)
		asked.WriteString(g.Commit + ":" + name + "\n")
	}
	if len(names) == 0 {
		return nil
	}
	out, err := g.Repo.Output(g.ctx, asked.String(), "cat-file", "--batch")
	if err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	for _, name := range names {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		f := bytes.Fields(head) // id, kind, size
		if len(f) != 3 {
			return fmt.Errorf("git cat-file: %s: %s", name, head)
		}
		size, err := strconv.Atoi(string(f[2]))
		if err != nil || size >= len(rest) {
			return fmt.Errorf("git cat-file: %s: %s", name, head)
		}
		g.known[name] = Object{"blob", rest[:size:size]}
		out = rest[size+1:]
	}
	return nil
}

// ListOnDisk implements dsl.Options.List for a spec on disk that is compared with a commit. Files ignored by git are
// left out, since no commit contains them.
func (g *GitTree) ListOnDisk(dir string, most int) ([]specfs.FileEntry, error) {
	if g == nil {
		return nil, specfs.ErrOnDisk
	}
	rel, inside := g.place(dir)
	if !inside {
		return nil, specfs.ErrOnDisk
	}
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, errLink
	}
	// A submodule on disk lists its own files, whatever the commit has at its path.
	if repo, err := git.Find(dir); err == nil && repo.Top() != g.Repo.Top() && fspath.Within(g.Repo.Top(), repo.Top()) {
		return newGitTree(g.ctx, repo, "").ListOnDisk(dir, most)
	}
	args := []string{"--literal-pathspecs", "ls-files", "-z", "--cached", "--others", "--exclude-standard"}
	if rel != "" {
		args = append(args, "--", rel+"/")
	}
	out, err := g.Repo.Output(g.ctx, "", args...)
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var files []specfs.FileEntry
	for name := range strings.SplitSeq(string(out), "\x00") {
		info, err := os.Lstat(filepath.Join(g.Repo.Top(), filepath.FromSlash(name)))
		if name == "" || err != nil || !info.Mode().IsRegular() {
			continue // deleted, or a link
		}
		if files = append(files, specfs.FileEntry{Name: strings.TrimPrefix(strings.TrimPrefix(name, rel), "/"), Size: info.Size()}); len(files) > most {
			break
		}
	}
	return files, nil
}
