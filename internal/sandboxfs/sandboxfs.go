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

// Hidden lists the names that file tools do not see unless their author says
// otherwise: the history, the journals of runs, files of secrets, and what a
// write that was killed left behind. The list is the caller's.
func Hidden() []string { return []string{".git", ".pex", ".env", ".env.*", temporary + "*"} }

// temporary is how the names of files start that are not written yet.
const temporary = ".pex-tmp-"

// Folder is a root below which a tool may go. It holds no open file and is
// safe for concurrent use.
type Folder struct {
	dir     string // the root, absolute
	base    string // the folder that the root must stay in, absolute
	below   string // the root as seen from base
	exclude []string
	enter   func(dir string) error // called before the root is opened; may be nil
	private []string               // folders that are never entered, absolute, folded
	protect func(path string, content []byte) error
}

// New checks a root that an author wrote: relative ones start at the spec's
// folder, and it must lie in the project or in a folder that was opened for
// the run. exclude are patterns (path.Match) of names that are out of reach at
// any depth, whatever their case.
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
	return fmt.Errorf("root %q lies outside the project; move it below %s or open it with --allow-path %s", root, project, f.dir)
}

// Dir is the root's path on this machine.
func (f *Folder) Dir() string { return f.dir }

// Open opens the root; the caller closes the Tree.
func (f *Folder) Open() (*Tree, error) { return f.open(false) }

// Make opens the root and creates it where it is missing.
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
	at, ok := t.resolved(filepath.ToSlash(f.below))
	if !ok {
		at = f.below
	}
	root, err := base.OpenRoot(at)
	if err != nil {
		return nil, fmt.Errorf("the folder of this tool (%s) cannot be opened: %w", f.below, reason(err))
	}
	return f.tree(root, at)
}

// tree is an open root, at its place below the base; one that is private is
// closed again.
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

// directory says whether a name is a folder; opening a pipe as one would hang.
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

// reason is an error without the operation and the path, which the message
// around it has already.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
