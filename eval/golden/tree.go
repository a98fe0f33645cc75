package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Tree is the golden files below a project's root: nothing outside it is read
// or written, by a symbolic link neither. It is safe for concurrent use.
type Tree struct {
	dir    string
	root   *os.Root
	strict bool

	mu      sync.Mutex
	owners  map[string]claim // of files, by their path below the root
	folders map[string]*folder
	kept    map[string]bool // files of others, likewise
}

// claim is what the first case that asked for a file makes of it.
type claim struct{ owner, text string }

// folder is what is known of a folder that cases keep goldens in.
type folder struct {
	shared bool             // goldens of a case may be any files in it
	open   int              // cases that have not come to their end
	turns  map[string]*turn // of cases that were announced, by owner
	last   *turn
}

// turn is the place of a case among those of its folder.
type turn struct {
	before *turn // nil = it is the first
	done   chan struct{}
	once   sync.Once
}

// Open opens the goldens below a root; Close gives them up. A strict tree is
// only read: Update and Accept give ErrStrict.
func Open(root string, strict bool) (*Tree, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("golden files: %w", err)
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("golden files: %w", err)
	}
	return &Tree{dir: dir, root: r, strict: strict, owners: map[string]claim{}, folders: map[string]*folder{}, kept: map[string]bool{}}, nil
}

// Close gives up the tree and the changes it gave.
func (t *Tree) Close() error { return t.root.Close() }

// Keep says that files are somebody's own, those that specs and tests are made
// of: they are never goldens, and what lies beside them is never unused.
func (t *Tree) Keep(paths ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, path := range paths {
		if rel, err := t.below(path); err == nil {
			t.kept[rel] = true
		}
	}
}

// Announce says that a case is going to be compared. While one that was
// announced has not come to its end, nothing in its folder is unused; and those
// of a folder are compared one after the other, as they were announced, so that
// it does not depend on chance which is told of a golden that several ask for.
func (t *Tree) Announce(owner, path string) error {
	rel, err := t.below(path)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.folder(rel)
	if f.turns[owner] == nil {
		f.open++
		f.last = &turn{before: f.last, done: make(chan struct{})}
		f.turns[owner] = f.last
	}
	return nil
}

// Case is the goldens of one case. path is absolute: a folder, or a file .md
// that holds the only prompt of the case (its other artefacts are then not
// compared). owner names the case among all of the tree, and in messages. A
// golden may be of several cases that give the same text. The caller calls
// Leave.
func (t *Tree) Case(owner, path string) (*Case, error) {
	rel, err := t.below(path)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.folder(rel)
	c := &Case{tree: t, owner: owner, rel: rel, folder: f, turn: f.turns[owner]}
	if c.turn == nil {
		f.open++
	}
	return c, nil
}

// folder is the one that a path is, or that holds the file.
func (t *Tree) folder(rel string) *folder {
	dir := rel
	if single(rel) {
		dir = filepath.Dir(rel)
	}
	f := t.folders[dir]
	if f == nil {
		f = &folder{turns: map[string]*turn{}}
		t.folders[dir] = f
	}
	f.shared = f.shared || !single(rel)
	return f
}

// below is a path from the root on.
func (t *Tree) below(path string) (string, error) {
	rel, err := filepath.Rel(t.dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("golden %s leads out of the project: files are kept below %s", path, t.dir)
	}
	return rel, nil
}

// claim notes whose golden a file is, and what text it is to have.
func (t *Tree) claim(rel, owner, text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept[rel] {
		return fmt.Errorf("%s is a file that the spec or its tests read: goldens want a place of their own (key golden)", rel)
	}
	first, claimed := t.owners[rel]
	if claimed && first.owner != owner && first.text != text {
		return fmt.Errorf("%s is the golden of %s too, which gives another text: %s wants one of its own (key golden)", rel, first.owner, owner)
	}
	if !claimed || first.owner == owner {
		t.owners[rel] = claim{owner, text}
	}
	return nil
}

// plain is an error without the path that stands around it already.
func plain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		if strings.Contains(pe.Err.Error(), "escapes") {
			return errors.New("a symbolic link leads out of the project")
		}
		return pe.Err
	}
	return err
}
