package sandboxfs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/pexctl/pex/engine/regular"
)

// Write replaces a file atomically and durably, or creates it with its parent folders. rel comes from Clean. existed
// reports whether the file existed before.
func (t *Tree) Write(ctx context.Context, rel string, content []byte) (existed bool, err error) {
	if rel == "." {
		return false, errors.New("the path names the folder of this tool; pass the path of a file in it")
	}
	rel, err = t.place(rel)
	if err != nil {
		return false, err
	}
	if err := t.changeable(rel, content); err != nil {
		return false, err
	}
	perm, existed, err := t.target(rel)
	if err != nil {
		return false, err
	}
	dir := path.Dir(rel)
	if err := t.root.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("the folders of %q cannot be made: %w", rel, reason(err))
	}
	temp := path.Join(dir, temporary+rand.Text())
	if err := t.fill(temp, content, perm); err != nil {
		return false, errors.Join(fmt.Errorf("%q was not written: %w", rel, reason(err)), t.discard(temp))
	}
	if err := ctx.Err(); err != nil {
		return false, errors.Join(fmt.Errorf("%q was not written: %w", rel, err), t.discard(temp))
	}
	if err := t.root.Rename(temp, rel); err != nil {
		return false, errors.Join(fmt.Errorf("%q was not written: %w", rel, reason(err)), t.discard(temp))
	}
	return existed, t.sync(dir)
}

// place returns where a file is written: links to its folder are resolved, a link at its own name is not.
func (t *Tree) place(rel string) (string, error) {
	dir, err := t.follow(path.Dir(rel))
	return path.Join(dir, path.Base(rel)), err
}

// target checks the existing file at a path.
func (t *Tree) target(rel string) (perm fs.FileMode, existed bool, err error) {
	info, err := t.root.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0o644, false, nil
	case err != nil:
		return 0, false, t.explain(rel, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, false, fmt.Errorf("%q is a link and is not written through; pass the path of the file itself", rel)
	}
	if info.Mode().Perm()&0o111 != 0 && info.Mode().IsRegular() {
		return 0, false, fmt.Errorf("%q is not written: it is a program; pass another path", rel)
	}
	return info.Mode().Perm(), true, t.regular(rel, info)
}

func (t *Tree) fill(temp string, content []byte, perm fs.FileMode) error {
	f, err := t.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(content); err == nil {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = regular.Sync(f)
	}
	return errors.Join(err, f.Close())
}

func (t *Tree) discard(temp string) error {
	if err := t.root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("temporary file %s stays: %w", temp, reason(err))
	}
	return nil
}

// sync makes a rename durable.
func (t *Tree) sync(dir string) error {
	f, err := t.openDir(dir)
	if err != nil {
		return fmt.Errorf("folder %s cannot be synced: %w", dir, reason(err))
	}
	defer f.Close()
	if err := regular.Sync(f); err != nil {
		return fmt.Errorf("folder %s cannot be synced: %w", dir, reason(err))
	}
	return nil
}
