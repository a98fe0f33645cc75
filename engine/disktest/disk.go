package disktest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/regular"
)

// Disk tracks what is durable below a directory.
type Disk struct {
	root string
	skip bool // tracks nothing

	// OnSync, if not nil, is called before each sync, again before it takes effect, and
	// when it has completed, with the path below the directory.
	OnSync func(path string)

	mu     sync.Mutex // guards the fields below
	synced map[string][]byte
	named  map[string]bool
}

// watched are the disks of the running tests.
var watched struct {
	mu    sync.Mutex
	disks []*Disk
	stop  func()
}

// Watch simulates the syncs below a directory until the test ends. All that exists is
// durable.
func Watch(t testing.TB, root string) *Disk {
	t.Helper()
	d := &Disk{root: filepath.Clean(root), synced: map[string][]byte{}, named: map[string]bool{".": true}}
	if err := d.walk(func(path string, isDir bool) { d.completed(path, isDir, d.read(path, isDir)) }); err != nil {
		t.Fatal(err)
	}
	d.watch(t)
	return d
}

// Skip omits the syncs below a directory until the test ends.
func Skip(t testing.TB, root string) { (&Disk{root: filepath.Clean(root), skip: true}).watch(t) }

func (d *Disk) watch(t testing.TB) {
	watched.mu.Lock()
	defer watched.mu.Unlock()
	if watched.disks = append(watched.disks, d); len(watched.disks) == 1 {
		watched.stop = regular.InterceptSyncs(intercept)
	}
	t.Cleanup(d.Stop)
}

// Stop ends the simulation.
func (d *Disk) Stop() {
	watched.mu.Lock()
	defer watched.mu.Unlock()
	for i, w := range watched.disks {
		if w != d {
			continue
		}
		if watched.disks = append(watched.disks[:i:i], watched.disks[i+1:]...); len(watched.disks) == 0 {
			watched.stop()
		}
		return
	}
}

func intercept(path string, sync func() error) error {
	watched.mu.Lock()
	disks := watched.disks
	watched.mu.Unlock()
	for _, d := range disks {
		if rel, err := filepath.Rel(d.root, path); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return d.sync(rel)
		}
	}
	return sync()
}

// sync simulates a sync: it takes effect for what is there when it starts.
func (d *Disk) sync(path string) error {
	if d.skip {
		return nil
	}
	info, err := os.Lstat(filepath.Join(d.root, path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed while it was open
	}
	if err != nil {
		return err
	}
	d.call(path)
	content := d.read(path, info.IsDir())
	d.call(path)
	d.completed(path, info.IsDir(), content)
	d.call(path)
	return nil
}

func (d *Disk) call(path string) {
	if d.OnSync != nil {
		d.OnSync(path)
	}
}

// read returns the content of a file, or the names in a directory, one per line.
func (d *Disk) read(path string, isDir bool) []byte {
	path = filepath.Join(d.root, path)
	if !isDir {
		b, _ := os.ReadFile(path) // nil if it was removed meanwhile
		return b
	}
	entries, _ := os.ReadDir(path)
	var names []byte
	for _, e := range entries {
		names = append(append(names, e.Name()...), '\n')
	}
	return names
}

func (d *Disk) completed(path string, isDir bool, content []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !isDir {
		d.synced[path] = content
		return
	}
	for name := range d.named {
		if name != "." && filepath.Dir(name) == path {
			delete(d.named, name)
		}
	}
	for name := range strings.Lines(string(content)) {
		d.named[filepath.Join(path, strings.TrimSuffix(name, "\n"))] = true
	}
}

// walk calls f for all files and directories.
func (d *Disk) walk(f func(path string, isDir bool)) error {
	return filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(d.root, path)
		f(rel, e.IsDir())
		return err
	})
}

// isNamed reports whether the directory entries that lead to path are durable. The caller
// holds mu.
func (d *Disk) isNamed(path string) bool {
	for ; path != "."; path = filepath.Dir(path) {
		if !d.named[path] {
			return false
		}
	}
	return true
}

// Image returns what is durable now and what is only written.
func (d *Disk) Image() Image {
	d.mu.Lock()
	defer d.mu.Unlock() // no sync takes effect meanwhile
	var m Image
	_ = d.walk(func(path string, isDir bool) {
		f := File{Path: path, Dir: isDir, Named: d.isNamed(path), Exists: true}
		if !isDir {
			f.Synced, f.Written = d.synced[path], d.read(path, false)
		}
		m = append(m, f)
	})
	for path, content := range d.synced {
		if !m.has(path) {
			m = append(m, File{Path: path, Named: d.isNamed(path), Synced: content})
		}
	}
	return m
}

// Inherit has the disk continue with the durable contents of an image, not with all that
// exists: as after a killed process, which loses nothing that was written.
func (d *Disk) Inherit(m Image) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.synced, d.named = map[string][]byte{}, map[string]bool{".": true}
	for _, f := range m {
		if f.Named {
			d.named[f.Path] = true
		}
		if !f.Dir && f.Synced != nil {
			d.synced[f.Path] = bytes.Clone(f.Synced)
		}
	}
}
