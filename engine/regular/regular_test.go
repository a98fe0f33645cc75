//go:build unix

package regular_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pexctl/pex/engine/regular"
)

func TestFIFOIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_APPEND} {
		f, err := regular.OpenFile(path, flag, 0o600)
		if err == nil {
			f.Close()
			t.Errorf("flag %x: it was opened", flag)
		}
		if _, ok := errors.AsType[*fs.PathError](err); !ok {
			t.Errorf("flag %x: %v", flag, err)
		}
	}
	if _, err := regular.ReadFile(path); !errors.Is(err, regular.ErrType) {
		t.Errorf("read: %v", err)
	}
}

func TestDeviceIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zero")
	if err := os.Symlink("/dev/zero", path); err != nil {
		t.Fatal(err)
	}
	if b, err := regular.ReadFile(path); !errors.Is(err, regular.ErrType) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func TestDirectoryIsAnError(t *testing.T) {
	if _, err := regular.ReadFile(t.TempDir()); !errors.Is(err, regular.ErrType) {
		t.Error(err)
	}
}

func TestRegularFilesOpenAsWithOS(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	want := bytes.Repeat([]byte("0123456789"), 1000)
	f, err := regular.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(want); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	if got, err := regular.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if f, err = regular.OpenFile(path, os.O_TRUNC|os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if got, err := regular.ReadFile(path); err != nil || len(got) != 0 {
		t.Errorf("after truncation: %d bytes, %v", len(got), err)
	}
	if _, err := regular.Open(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
