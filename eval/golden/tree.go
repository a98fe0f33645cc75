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

// Tree gives access to the golden files below a project's root. It never reads or writes outside of the root, not
// even through symbolic links. It is safe for concurrent use.
type Tree struct {
	dir    string
	root   *os.Root
	strict bool

	mu      sync.Mutex
	owners  map[string]claim // by path below the root
	folders map[string]*folder
	inputs  map[string]bool // files that specs and tests read, by path below the root
}

// claim records the first case that uses a golden file and the text it expects.
type claim struct{ owner, text string }

// folder is the state of a folder that contains goldens.
type folder struct {
	shared bool             // all files in it may be goldens of a case
	open   int              // cases that have not completed
	turns  map[string]*turn // announced cases by owner
	last   *turn
}

// turn is the position of an announced case in its folder.
type turn struct {
	prev *turn // nil for the first
	done chan struct{}
	once sync.Once
}

// Open opens the golden files below root. In a strict tree, Update and Accept return ErrStrict. The caller must
// call Close.
func Open(root string, strict bool) (*Tree, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("golden files: %w", err)
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("golden files: %w", err)
	}
	return &Tree{dir: dir, root: r, strict: strict, owners: map[string]claim{}, folders: map[string]*folder{}, inputs: map[string]bool{}}, nil
}

// Close closes the tree. Its changes become invalid.
func (t *Tree) Close() error { return t.root.Close() }

// ExcludeInputs marks files that specs and tests read. They are never goldens, and other files in their folders
// never count as unused.
func (t *Tree) ExcludeInputs(paths ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, path := range paths {
		if rel, err := t.relPath(path); err == nil {
			t.inputs[rel] = true
		}
	}
}

// Announce declares that a case will be compared. Goldens of a folder count as unused only after all its announced
// cases have completed. The cases of a folder are compared in the order of their announcement, so that conflicts
// between cases that share a golden are reported deterministically.
func (t *Tree) Announce(owner, path string) error {
	rel, err := t.relPath(path)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.folder(rel)
	if f.turns[owner] == nil {
		f.open++
		f.last = &turn{prev: f.last, done: make(chan struct{})}
		f.turns[owner] = f.last
	}
	return nil
}

// Case returns the goldens of one case. path is absolute: a folder, or a .md file for the only prompt of the case
// (its other artefacts are then not compared). owner names the case and must be unique within the tree. Cases may
// share a golden if their texts are equal. The caller must call Close.
func (t *Tree) Case(owner, path string) (*Case, error) {
	rel, err := t.relPath(path)
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

// folder returns the folder at rel, or the one that contains the prompt file rel.
func (t *Tree) folder(rel string) *folder {
	dir := rel
	if isPromptFile(rel) {
		dir = filepath.Dir(rel)
	}
	f := t.folders[dir]
	if f == nil {
		f = &folder{turns: map[string]*turn{}}
		t.folders[dir] = f
	}
	f.shared = f.shared || !isPromptFile(rel)
	return f
}

// relPath returns a path relative to the root, or an error if the path is outside of it.
func (t *Tree) relPath(path string) (string, error) {
	rel, err := filepath.Rel(t.dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("golden %s is outside of the project folder %s", path, t.dir)
	}
	return rel, nil
}

// claim records that a file is the golden of a case with a text. It returns an error if the file is an input, or
// the golden of another case with a different text.
func (t *Tree) claim(rel, owner, text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.inputs[rel] {
		return fmt.Errorf("%s is read by the spec or its tests and cannot be a golden file: set another path (key golden)", rel)
	}
	first, claimed := t.owners[rel]
	if claimed && first.owner != owner && first.text != text {
		return fmt.Errorf("%s is also the golden file of %s, whose text differs: set another path for %s (key golden)", rel, first.owner, owner)
	}
	if !claimed || first.owner == owner {
		t.owners[rel] = claim{owner, text}
	}
	return nil
}

// withoutPath returns err without its path, which the caller's message contains.
func withoutPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		if strings.Contains(pe.Err.Error(), "escapes") {
			return errors.New("a symbolic link points outside of the project")
		}
		return pe.Err
	}
	return err
}
