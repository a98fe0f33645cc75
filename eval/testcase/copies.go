package testcase

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pexctl/pex/engine"
)

// Limits of copies for tools that write.
const (
	maxCopied = 64 << 20 // bytes
	maxFiles  = 10_000
)

// copies are the folders in which the tools of a case work after its first write: copies
// of the specs' folders in the same layout.
type copies struct {
	used   atomic.Bool
	mu     sync.Mutex
	root   string // "" = none yet
	hosts  map[*engine.Program]engine.Host
	copied []string // folders already copied, relative to the root
}

// written reports whether a tool has written, or is about to.
func (c *copies) written() bool { return c.used.Load() }

// host returns the host of a program whose tools work in a copy of its folder; top is the
// folder of the spec under test, which is copied too.
func (c *copies) host(connect connector, p *engine.Program, at Place, top string) (engine.Host, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h, ok := c.hosts[p]; ok {
		return h, nil
	}
	h, err := c.connect(connect, p, at, top)
	if err != nil {
		return h, noCopy(err)
	}
	c.hosts[p] = h
	return h, nil
}

func noCopy(err error) error {
	return fmt.Errorf("cannot copy the folder for tools that write: %w (set the result of the tool with run.tools to avoid calling it)", err)
}

func (c *copies) connect(connect connector, p *engine.Program, at Place, top string) (h engine.Host, err error) {
	if err := c.begin(); err != nil {
		return h, err
	}
	for _, dir := range []string{top, at.Dir} {
		if err := c.folder(at.Root, dir); err != nil {
			return h, err
		}
	}
	rel, err := filepath.Rel(at.Root, at.Dir)
	if err != nil {
		return h, err
	}
	c.used.Store(true)
	return connect(p, Place{
		Dir: filepath.Join(c.root, rel), Root: c.root, Now: at.Now,
		Enter: func(dir string) error { return c.enter(at.Root, dir) },
	})
}

// begin creates the root of all copies.
func (c *copies) begin() error {
	if c.root != "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "pex-test-")
	if err != nil {
		return err
	}
	if c.root, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	c.hosts = map[*engine.Program]engine.Host{}
	return nil
}

// enter copies a folder before a tool works in it, if the project has it.
func (c *copies) enter(root, dir string) error {
	rel, err := filepath.Rel(c.root, dir)
	if err != nil {
		return noCopy(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.folder(root, filepath.Join(root, rel)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return noCopy(err)
	}
	return nil
}

// folder copies a folder, unless it or a parent is copied already.
func (c *copies) folder(root, dir string) error {
	rel, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%s is not below the project root %s", dir, root)
	}
	for _, done := range c.copied {
		if done == "." || rel == done || strings.HasPrefix(rel, done+string(filepath.Separator)) {
			return nil
		}
	}
	from, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer from.Close()
	isCopied := func(below string) bool { return slices.Contains(c.copied, filepath.Join(rel, below)) }
	if err := copyTree(from, filepath.Join(c.root, rel), isCopied); err != nil {
		return err
	}
	c.copied = append(c.copied, rel)
	return nil
}

// copyTree copies files and folders, except those copied before, which a tool may have changed since. It skips
// links, sockets and the folders of other programs (.git, .pex, node_modules).
func copyTree(from *os.Root, to string, copied func(below string) bool) error {
	files, left := 0, int64(maxCopied)
	return fs.WalkDir(from.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (skipFolder(e.Name()) || copied(filepath.FromSlash(path))):
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, filepath.FromSlash(path)), 0o755)
		case !e.Type().IsRegular():
			return nil
		}
		if files++; files > maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		n, err := copyFile(from, path, filepath.Join(to, filepath.FromSlash(path)), left)
		left -= n
		return err
	})
}

func skipFolder(name string) bool { return name == ".git" || name == ".pex" || name == "node_modules" }

var errLarge = errors.New("more than " + fmt.Sprint(maxCopied>>20) + " MiB")

func copyFile(from *os.Root, path, to string, left int64) (n int64, err error) {
	in, err := from.Open(filepath.FromSlash(path))
	if err != nil {
		return 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() > left {
		return 0, errLarge
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm()|0o200)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(out, io.LimitReader(in, left))
	return n, errors.Join(err, out.Close())
}

func (c *copies) remove() {
	if c.root != "" {
		_ = os.RemoveAll(c.root) // what is left of it is the system's to tidy
	}
}
