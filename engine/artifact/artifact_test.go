package artifact_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/regular"
)

func digestOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func put(t *testing.T, s *artifact.Store, content string) (artifact.Info, bool) {
	t.Helper()
	info, existed, err := s.Put(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return info, existed
}

// The same content is stored once, under its digest, and read again unchanged.
func TestContentIsStoredOnce(t *testing.T) {
	home := t.TempDir()
	s := artifact.Open(home, 0)
	for i, content := range []string{"a", "a", ""} {
		info, existed := put(t, s, content)
		if existed != (i == 1) || info.SHA256 != digestOf(content) || info.Size != int64(len(content)) {
			t.Errorf("%q: %v %v", content, info, existed)
		}
		f, err := s.Open(info.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(f); err != nil || string(b) != content {
			t.Errorf("%q, %v", b, err)
		}
		f.Close()
	}
	all, err := artifact.List(home)
	if err != nil || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	for _, a := range all {
		if err := artifact.Verify(home, a.SHA256); err != nil {
			t.Error(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(home, artifact.Folder, ".*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// Only digests name artifacts, so no name leads out of the store.
func TestOtherNamesDoNotExist(t *testing.T) {
	home := t.TempDir()
	s := artifact.Open(home, 0)
	put(t, s, "a")
	for _, name := range []string{"", ".", "..", "../../etc/passwd", digestOf("b"), strings.ToUpper(digestOf("a")), digestOf("a")[:63], digestOf("a") + "/", digestOf("a") + "\x00"} {
		if _, err := s.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %q: %v", name, err)
		}
		if _, err := s.Use(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("use %q: %v", name, err)
		}
	}
}

// An artifact is durable when Put returns: its content is synced before it has its name,
// and its name before Put returns.
func TestArtifactsAreDurable(t *testing.T) {
	home := t.TempDir()
	s := artifact.Open(home, 0)
	var synced []string
	stop := regular.ObserveSyncs(func(path string) {
		rel, _ := filepath.Rel(home, path)
		synced = append(synced, filepath.ToSlash(rel))
	})
	defer stop()
	info, _ := put(t, s, "a")
	want := []string{".", artifact.Folder + "/.upload-", artifact.Folder + "/" + info.SHA256[:2], artifact.Folder}
	if len(synced) != len(want) || !strings.HasPrefix(synced[1], want[1]) || synced[2] != want[2] || synced[3] != want[3] {
		t.Errorf("%q, want %q", synced, want)
	}
}

// A store with a limit rejects what would exceed it, also from many clients at once.
func TestTheTotalSizeIsLimited(t *testing.T) {
	home := t.TempDir()
	s := artifact.Open(home, 100)
	var wg sync.WaitGroup
	var mu sync.Mutex
	rejected := 0
	for i := range 30 {
		wg.Go(func() {
			_, _, err := s.Put(bytes.NewReader(bytes.Repeat([]byte{byte(i)}, 10)))
			mu.Lock()
			defer mu.Unlock()
			if errors.As(err, new(*artifact.QuotaError)) {
				rejected++
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all, err := artifact.List(home)
	if err != nil || len(all) != 10 || rejected != 20 {
		t.Errorf("%d stored, %d rejected, %v", len(all), rejected, err)
	}
	if _, existed, err := s.Put(bytes.NewReader(bytes.Repeat([]byte{0}, 10))); err == nil && !existed {
		t.Error("an artifact beyond the limit was stored")
	}
}

// Incomplete uploads do not take more space than the store may have, however large they are.
func TestIncompleteUploadsAreLimited(t *testing.T) {
	s := artifact.Open(t.TempDir(), 100)
	first, write := io.Pipe()
	done := make(chan error)
	go func() {
		_, _, err := s.Put(first)
		done <- err
	}()
	for range 60 {
		if _, err := write.Write([]byte("a")); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Put(bytes.NewReader(make([]byte, 50))); !errors.As(err, new(*artifact.QuotaError)) {
		t.Errorf("beside an incomplete upload: %v", err)
	}
	write.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	put(t, s, "after it")
	if _, _, err := s.Put(endless{}); !errors.As(err, new(*artifact.QuotaError)) {
		t.Errorf("endless: %v", err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// An upload that is rejected does not make a smaller one beside it fail.
func TestARejectedUploadHarmsNoOther(t *testing.T) {
	s := artifact.Open(t.TempDir(), 1000)
	first, write := io.Pipe()
	done := make(chan error)
	go func() {
		_, _, err := s.Put(first)
		first.CloseWithError(err)
		done <- err
	}()
	var rejected sync.WaitGroup
	for range 4 {
		rejected.Go(func() {
			for range 50 {
				if _, _, err := s.Put(bytes.NewReader(make([]byte, 1001))); !errors.As(err, new(*artifact.QuotaError)) {
					t.Errorf("beside an incomplete upload: %v", err)
				}
			}
		})
	}
	for range 1000 {
		if _, err := write.Write([]byte("a")); err != nil {
			t.Error(err)
			break
		}
	}
	write.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	rejected.Wait()
}

// A client that disappears leaves nothing.
func TestBrokenUploadsLeaveNothing(t *testing.T) {
	home := t.TempDir()
	broken := errors.New("connection reset")
	if _, _, err := artifact.Open(home, 0).Put(io.MultiReader(strings.NewReader("a"), failing{broken})); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if isEmpty, err := artifact.IsEmpty(home); err != nil || !isEmpty {
		t.Error(isEmpty, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Sweep removes what no run uses, unless it is new.
func TestSweep(t *testing.T) {
	home := t.TempDir()
	s := artifact.Open(home, 0)
	used, unused, fresh, reused := digestOf("used"), digestOf("unused"), digestOf("fresh"), digestOf("reused")
	for _, content := range []string{"used", "unused", "fresh", "reused"} {
		put(t, s, content)
	}
	killed := filepath.Join(home, artifact.Folder, ".upload-1")
	if err := os.WriteFile(killed, []byte("killed"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-48 * time.Hour)
	for _, file := range []string{artifact.Path(home, used), artifact.Path(home, unused), artifact.Path(home, reused), killed} {
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Use(reused); err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-24 * time.Hour)
	for _, dryRun := range []bool{true, false} {
		removed, freed, err := artifact.Sweep(home, map[string]bool{used: true}, before, dryRun)
		if err != nil || removed != 1 || freed != int64(len("unused")+len("killed")) {
			t.Errorf("%v: %d, %d, %v", dryRun, removed, freed, err)
		}
	}
	for digest, stays := range map[string]bool{used: true, unused: false, fresh: true, reused: true} {
		if _, err := os.Stat(artifact.Path(home, digest)); (err == nil) != stays {
			t.Errorf("%s: %v", digest, err)
		}
	}
	if _, err := os.Stat(killed); err == nil {
		t.Error("the upload that was killed is left")
	}
}

// Damage is found.
func TestVerify(t *testing.T) {
	home := t.TempDir()
	info, _ := put(t, artifact.Open(home, 0), "content")
	if err := os.WriteFile(artifact.Path(home, info.SHA256), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := artifact.Verify(home, info.SHA256); err == nil {
		t.Error("the change was not found")
	}
}
