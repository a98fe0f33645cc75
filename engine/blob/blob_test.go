package blob_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/blob"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/regular"
)

func TestDirConforms(t *testing.T) {
	enginetest.BlobSuite(t, func(t *testing.T) blob.Store { return blob.NewDir(t.TempDir()) })
}

func open(t *testing.T, address string) (blob.Store, error) {
	t.Helper()
	return blob.Open(address, map[string]blob.Opener{
		"s3": func(u *url.URL) (blob.Store, error) { return blob.NewDir("/" + u.Host), nil },
	})
}

func TestAddressesOpenStores(t *testing.T) {
	dir := t.TempDir()
	for _, address := range []string{"file://" + dir, "file://localhost" + dir, "file://" + dir + "/"} {
		s, err := open(t, address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(t.Context(), []byte(address)); err != nil {
			t.Error(err)
		}
	}
	if s, err := open(t, "s3://bucket"); err != nil || fmt.Sprint(s) != "file:///bucket" {
		t.Errorf("got %v, %v", s, err)
	}
}

func TestUnusableAddressesAreNotShown(t *testing.T) {
	for address, want := range map[string]string{
		"":                            "must be a URL",
		"/var/hunter2":                "must be a URL",
		"file://hunter2/var":          "three slashes",
		"file:hunter2":                "absolute path",
		"file:///hunter2?x":           "nothing else",
		"ftp://user:hunter2@host":     `unknown scheme "ftp"; the schemes are file, s3`,
		"postgres://u:hunter2@h:port": "must be a URL",
	} {
		_, err := open(t, address)
		if _, ok := errors.AsType[*blob.AddressError](err); !ok || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestFolderThatDoesNotExistIsNotCreated(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "unmounted")
	s := blob.NewDir(dir)
	_, put := s.Put(t.Context(), []byte("x"))
	_, get := s.Get(t.Context(), blob.Of([]byte("x")))
	_, deleted := s.DeleteOlder(t.Context(), time.Now())
	for _, err := range []error{put, get, deleted} {
		if blob.KindOf(err) != blob.Unreachable || !strings.Contains(err.Error(), "create or mount it") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder: %v", err)
	}
}

// stored returns a store with one blob, and its file.
func stored(t *testing.T) (*blob.Dir, blob.Ref, string) {
	t.Helper()
	dir := t.TempDir()
	s := blob.NewDir(dir)
	ref, err := s.Put(t.Context(), []byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	return s, ref, filepath.Join(dir, ref.SHA256[:2], ref.SHA256)
}

func TestDamageIsFoundAndRepairedByAnotherPut(t *testing.T) {
	for _, damage := range []string{"contenT", "cont", "content and more", ""} {
		s, ref, file := stored(t)
		if err := os.WriteFile(file, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), ref); blob.KindOf(err) != blob.Damaged {
			t.Errorf("%q: %v", damage, err)
		}
		if _, err := s.Put(t.Context(), []byte("content")); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context(), ref); err != nil || string(got) != "content" {
			t.Errorf("%q, put again: %q, %v", damage, got, err)
		}
	}
}

func TestFileThatIsNoFileIsDamaged(t *testing.T) {
	s, ref, file := stored(t)
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), ref); blob.KindOf(err) != blob.Damaged {
		t.Errorf("got %v", err)
	}
}

func TestDeniedFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	s, ref, file := stored(t)
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), ref); blob.KindOf(err) != blob.Denied {
		t.Errorf("got %v", err)
	}
}

// TestBlobIsSyncedBeforeItHasItsName records what was synced, and whether the blob had its name by then.
func TestBlobIsSyncedBeforeItHasItsName(t *testing.T) {
	dir := t.TempDir()
	ref := blob.Of([]byte("content"))
	file := filepath.Join(dir, ref.SHA256[:2], ref.SHA256)
	var got []string
	defer regular.ObserveSyncs(func(path string) {
		rel, err := filepath.Rel(dir, path)
		if err != nil || strings.HasPrefix(rel, "..") {
			return
		}
		if strings.HasPrefix(rel, ".blob-") {
			rel = "temporary"
		}
		_, err = os.Stat(file)
		got = append(got, fmt.Sprint(rel, " ", err == nil))
	})()
	for range 2 {
		if _, err := blob.NewDir(dir).Put(t.Context(), []byte("content")); err != nil {
			t.Fatal(err)
		}
		got = append(got, "acknowledged")
	}
	shard := ref.SHA256[:2]
	names := []string{shard + " true", ". true", "acknowledged"}
	if d := cmp.Diff(append(append([]string{"temporary false"}, names...), names...), got); d != "" {
		t.Error(d)
	}
}

func TestIncompleteFilesAreRemoved(t *testing.T) {
	s, ref, file := stored(t)
	incomplete := filepath.Join(filepath.Dir(filepath.Dir(file)), ".blob-1")
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.WriteFile(incomplete, []byte("x"), 0o600), os.Chtimes(incomplete, old, old)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.DeleteOlder(t.Context(), old.Add(time.Minute)); err != nil || got != (blob.Deleted{}) {
		t.Errorf("deleted %+v, %v", got, err)
	}
	if _, err := os.Stat(incomplete); !os.IsNotExist(err) {
		t.Errorf("the incomplete file: %v", err)
	}
	if _, err := s.Get(t.Context(), ref); err != nil {
		t.Error(err)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	s := blob.NewDir(t.TempDir())
	_, err := s.Get(t.Context(), blob.Of([]byte("x")))
	if !strings.Contains(err.Error(), "read blob 2d711642b726 (1 bytes) (file:///") || !strings.Contains(err.Error(), "configure the same store for all processes") {
		t.Errorf("got %v", err)
	}
	if _, err := s.Put(context.Background(), make([]byte, blob.MaxSize+1)); blob.KindOf(err) != blob.TooLarge {
		t.Errorf("got %v", err)
	}
}
