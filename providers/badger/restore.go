package badger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/pexctl/pex/engine/regular"
)

// Restore creates the store from a backup. If the directory already has one, the error
// wraps fs.ErrExist. The backup is verified completely first; on failure Restore leaves
// nothing.
func (s *Store) Restore(ctx context.Context, r io.Reader) (err error) {
	if err := s.checkVacant(); err != nil {
		return err
	}
	parent := filepath.Dir(filepath.Clean(s.dir))
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return fmt.Errorf("restore memory store: %w", err)
	}
	temp, err := os.MkdirTemp(parent, "."+filepath.Base(s.dir)+".restoring-")
	if err != nil {
		return fmt.Errorf("restore memory store: %w", err)
	}
	defer func() {
		if err = errors.Join(err, os.RemoveAll(temp)); err != nil {
			err = fmt.Errorf("restore memory store %s: %w", s.dir, err)
		}
	}()
	stream, err := unpack(filepath.Join(temp, "stream"), r)
	if err != nil {
		return err
	}
	defer stream.Close()
	dir := filepath.Join(temp, "store")
	restored := Open(dir, Options{FreeSpace: s.o.FreeSpace})
	if err := restored.with(ctx, func(db *lease) error { return restored.load(db, stream) }); err != nil {
		return err
	}
	return s.replaceDir(ctx, dir)
}

// unpack verifies a backup and returns its stream.
func unpack(path string, r io.Reader) (_ *os.File, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err = readFrame(f, r); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// load writes a verified stream into a new store.
func (s *Store) load(db *lease, stream *os.File) error {
	info, err := stream.Stat()
	if err != nil {
		return err
	}
	if err := s.checkWrite(max(largeWrite, int(info.Size()))); err != nil {
		return err
	}
	if err := db.sentinel.markWriting(s.dir); err != nil {
		return err
	}
	return db.Load(stream, 16)
}

// replaceDir moves a restored directory to the store's path, which must be missing or
// contain only files of waiting processes.
func (s *Store) replaceDir(ctx context.Context, dir string) error {
	if err := os.Mkdir(s.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	lock, err := s.acquireLock(ctx)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := s.checkVacant(); err != nil {
		return err
	}
	if err := s.clear(); err != nil {
		return err
	}
	if err := os.Rename(dir, s.dir); err != nil {
		return err
	}
	return regular.SyncDir(filepath.Dir(s.dir))
}

// clear removes the directory with the files of waiting processes, which may create new
// ones at any time.
func (s *Store) clear() (err error) {
	for range 100 {
		for _, name := range waitFiles {
			if err := os.RemoveAll(filepath.Join(s.dir, name)); err != nil {
				return err
			}
		}
		if err = os.Remove(s.dir); err == nil || !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
	}
	return err
}

// waitFiles are the files that waiting processes leave in the directory.
var waitFiles = []string{lockFile, queueDir, waitFile}

// checkVacant returns an error unless the directory is free for a restored store.
func (s *Store) checkVacant() error {
	files, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("restore memory store: %w", err)
	}
	for _, f := range files {
		if !slices.Contains(waitFiles, f.Name()) {
			return fmt.Errorf("restore memory store: %s already exists: %w", filepath.Join(s.dir, f.Name()), fs.ErrExist)
		}
	}
	return nil
}
