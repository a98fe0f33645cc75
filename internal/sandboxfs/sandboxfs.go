package sandboxfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/engine/tool"
)

// Hidden returns the names that file tools exclude by default: git history, run journals, files with secrets, and
// temporary files of killed writes. The caller owns the slice.
func Hidden() []string { return []string{".git", ".pex", ".env", ".env.*", temporary + "*"} }

// temporary is the prefix of temporary files.
const temporary = ".pex-tmp-"

// Folder is the root that a tool may access. It holds no open file and is safe for concurrent use.
type Folder struct {
	dir     string // the root, absolute
	base    string // the folder that the root must stay in, absolute
	below   string // the root relative to base
	exclude []string
	enter   func(dir string) error // called before the root is opened; may be nil
	private []string               // folders that are never entered, absolute, normalized
	protect func(path string, content []byte) error
}

// New validates a root from a spec. Relative roots start at the spec's folder; the root must be in the project or in
// a folder allowed for the run. exclude lists patterns (path.Match) of names that are inaccessible at any depth,
// ignoring case.
func New(s tool.Settings, root string, exclude []string) (*Folder, error) {
	start, err := filepath.Abs(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("folder of the spec: %w", err)
	}
	if strings.ContainsRune(root, 0) {
		return nil, errors.New("root holds a NUL byte")
	}
	f := &Folder{dir: filepath.Join(start, root), enter: s.Enter, protect: s.Protect, private: locations(s.Private)}
	if filepath.IsAbs(root) {
		f.dir = filepath.Clean(root)
	}
	for _, p := range exclude {
		if _, err := path.Match(p, ""); err != nil || strings.Contains(p, "/") {
			return nil, fmt.Errorf("exclude %q is no pattern of one name; write for example .git or *.pem", p)
		}
		f.exclude = append(f.exclude, strings.ToLower(p))
	}
	return f, f.settle(s, start, root)
}

// settle finds the folder that the root must stay in.
func (f *Folder) settle(s tool.Settings, start, root string) error {
	project := s.Root
	if project == "" {
		project = start
	}
	for _, named := range append([]string{project}, s.Allow...) {
		base, err := filepath.Abs(named)
		if err != nil {
			return fmt.Errorf("folder %s: %w", named, err)
		}
		if rel, err := filepath.Rel(base, f.dir); err == nil && filepath.IsLocal(rel) {
			f.base, f.below = base, rel
			return nil
		}
	}
	return fmt.Errorf("root %q lies outside the project; move it below %s or allow it with --allow-path %s", root, project, f.dir)
}

// Dir returns the absolute path of the root.
func (f *Folder) Dir() string { return f.dir }

// Open opens the root. The caller must close the Tree.
func (f *Folder) Open() (*Tree, error) { return f.open(false) }

// Make opens the root, creating it if it is missing.
func (f *Folder) Make() (*Tree, error) { return f.open(true) }

func (f *Folder) open(create bool) (*Tree, error) {
	if f.enter != nil {
		if err := f.enter(f.dir); err != nil {
			return nil, err
		}
	}
	base, err := os.OpenRoot(f.base)
	if err != nil {
		return nil, fmt.Errorf("the folder of this tool cannot be opened: %w", reason(err))
	}
	if f.below == "." {
		return f.tree(base, ".")
	}
	t, err := f.tree(base, ".")
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if create {
		if err := base.MkdirAll(f.below, 0o755); err != nil {
			return nil, fmt.Errorf("the folder of this tool (%s) cannot be created: %w", f.below, reason(err))
		}
	}
	if err := directory(base, f.below); err != nil {
		return nil, fmt.Errorf("the folder of this tool (%s) cannot be opened: %w", f.below, err)
	}
	at, ok := t.resolve(filepath.ToSlash(f.below))
	if !ok {
		at = f.below
	}
	root, err := base.OpenRoot(at)
	if err != nil {
		return nil, fmt.Errorf("the folder of this tool (%s) cannot be opened: %w", f.below, reason(err))
	}
	return f.tree(root, at)
}

// tree opens a Tree at its position below the base. It closes root if that is private.
func (f *Folder) tree(root *os.Root, at string) (*Tree, error) {
	t := &Tree{Folder: f, root: root, at: at, real: f.base}
	if real, err := filepath.EvalSymlinks(f.base); err == nil {
		t.real = real
	}
	if err := t.enterable("."); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// directory returns an error if name is not a folder. It does not open it, since opening a pipe would block.
func directory(base *os.Root, name string) error {
	info, err := base.Stat(name)
	if err != nil {
		return reason(err)
	}
	if !info.IsDir() {
		return errors.New("it is not a folder")
	}
	return nil
}

// reason returns an error without operation and path, which the caller's message has.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
