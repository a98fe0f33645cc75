package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/regular"
)

const (
	temporary = ".blob-" // starts the names of files that are not complete
	lockName  = ".lock"
)

// Dir is a Store in a folder, which several machines may share: ab/abcdef... below it. The folder must exist, so that a
// file system that is not mounted is an error.
//
// Put holds the lock of the folder together with others, and DeleteOlder for itself while it deletes one blob. Without
// locks (regular.CanLock), a blob that is put at the moment when it is deleted may be lost.
type Dir struct{ path string }

var (
	_ Store   = (*Dir)(nil)
	_ Sweeper = (*Dir)(nil)
)

// NewDir returns the store in a folder. It does not access the folder.
func NewDir(path string) *Dir { return &Dir{path} }

func (d *Dir) String() string { return "file://" + filepath.ToSlash(d.path) }

func (d *Dir) file(ref Ref) string { return filepath.Join(d.path, ref.SHA256[:2], ref.SHA256) }

// Put implements Store.
func (d *Dir) Put(ctx context.Context, content []byte) (Ref, error) {
	ref := Of(content)
	err := cmp.Or(ctx.Err(), CheckPut(ref, d.String()))
	if err != nil {
		return Ref{}, err
	}
	if err := d.put(ref, content); err != nil {
		return Ref{}, d.fail("store", ref, err)
	}
	return ref, nil
}

func (d *Dir) put(ref Ref, content []byte) error {
	unlock, err := d.lock(regular.Share)
	if err != nil {
		return err
	}
	defer unlock()
	path := d.file(ref)
	if was, err := regular.ReadFile(path); err == nil && Of(was) == ref && touch(path) == nil {
		return d.syncNames(path) // the process that wrote it may have been killed before this
	}
	f, err := os.CreateTemp(d.path, temporary+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it was renamed, or DeleteOlder removes it
	if _, err = f.Write(content); err == nil {
		err = regular.Sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return d.syncNames(path)
}

// syncNames makes the name of a blob durable.
func (d *Dir) syncNames(path string) error {
	return errors.Join(regular.SyncDir(filepath.Dir(path)), regular.SyncDir(d.path))
}

// Get implements Store.
func (d *Dir) Get(ctx context.Context, ref Ref) ([]byte, error) {
	if err := cmp.Or(ctx.Err(), CheckGet(ref, d.String())); err != nil {
		return nil, err
	}
	f, err := regular.Open(d.file(ref))
	if err != nil {
		return nil, d.fail("read", ref, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, d.fail("read", ref, err)
	}
	if info.Size() != ref.Size {
		return nil, &Error{Damaged, "read", ref, d.String(), fmt.Errorf("the file has %d bytes", info.Size())}
	}
	content := make([]byte, ref.Size)
	if _, err := io.ReadFull(f, content); err != nil {
		return nil, d.fail("read", ref, err)
	}
	if err := Verify(ref, content, d.String()); err != nil {
		return nil, err
	}
	return content, nil
}

// DeleteOlder implements Sweeper. It also removes incomplete files from before the time.
func (d *Dir) DeleteOlder(ctx context.Context, before time.Time) (deleted Deleted, err error) {
	err = filepath.WalkDir(d.path, func(path string, e fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if errors.Is(err, fs.ErrNotExist) && path != d.path {
			return nil // it disappeared meanwhile
		}
		if err != nil {
			return err
		}
		isBlob := artifact.IsDigest(e.Name())
		if !e.Type().IsRegular() || !isBlob && !strings.HasPrefix(e.Name(), temporary) {
			return nil
		}
		size, err := d.deleteOlder(path, e, before)
		if err == nil && isBlob && size >= 0 {
			deleted.Blobs++
			deleted.Bytes += size
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		err = d.fail("delete", Ref{}, err)
	}
	return deleted, err
}

// deleteOlder deletes a file from before a time, and returns its size, or -1 if it was not deleted.
func (d *Dir) deleteOlder(path string, e fs.DirEntry, before time.Time) (int64, error) {
	if info, err := e.Info(); err != nil || !info.ModTime().Before(before) {
		return -1, ignoreMissing(err)
	}
	unlock, err := d.lock(regular.Lock)
	if err != nil {
		return -1, err
	}
	defer unlock()
	info, err := os.Stat(path) // again: it may have been put meanwhile
	if err != nil || !info.ModTime().Before(before) {
		return -1, ignoreMissing(err)
	}
	if err := os.Remove(path); err != nil {
		return -1, ignoreMissing(err)
	}
	return info.Size(), nil
}

// lock locks the folder with take.
func (d *Dir) lock(take func(*os.File) error) (unlock func(), err error) {
	f, err := regular.OpenFile(filepath.Join(d.path, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := take(f); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// fail returns an error of the file system as a Store returns it.
func (d *Dir) fail(doing string, ref Ref, err error) error {
	err = journal.Full(err)
	kind := Unreachable
	switch _, folder := os.Stat(d.path); {
	case errors.Is(folder, fs.ErrNotExist):
		err = errors.New("the folder does not exist; create or mount it")
	case errors.Is(err, fs.ErrNotExist) && doing == "read":
		kind, err = Missing, nil
	case errors.Is(err, fs.ErrPermission):
		kind = Denied
	case errors.Is(err, journal.ErrFull):
		kind = Full
	case errors.Is(err, regular.ErrType):
		kind = Damaged
	}
	return &Error{kind, doing, ref, d.String(), err}
}

func touch(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
