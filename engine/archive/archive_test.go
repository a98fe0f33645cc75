package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/archive"
)

var (
	made    = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	changed = time.Date(2025, 1, 2, 3, 4, 5, 600_000_001, time.UTC)
	files   = map[string]string{"runs/a/journal.jsonl": "one\ntwo\n", "empty": "", "memory": strings.Repeat("x", 5000)}
	order   = []string{"runs/a/journal.jsonl", "empty", "memory"}
)

func newArchive(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := archive.NewWriter(&b, made, "test 1")
	for _, name := range order {
		if err := w.Add(name, changed, int64(len(files[name])), strings.NewReader(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readArchive returns the manifest and the files of an archive.
func readArchive(b []byte) (archive.Manifest, map[string]string, error) {
	got := map[string]string{}
	m, err := archive.Read(bytes.NewReader(b), func(f archive.File, r io.Reader) error {
		text, err := io.ReadAll(r)
		got[f.Name] = string(text)
		if !f.Time.Equal(changed) {
			return fmt.Errorf("%s: %v", f.Name, f.Time)
		}
		return err
	})
	return m, got, err
}

func TestReadReturnsAddedFiles(t *testing.T) {
	m, got, err := readArchive(newArchive(t))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(files, got); d != "" {
		t.Fatal(d)
	}
	if !m.Created.Equal(made) || m.By != "test 1" || len(m.Files) != 3 || m.Files[1].Name != "empty" {
		t.Fatal(m)
	}
}

func TestTruncationIsDetected(t *testing.T) {
	b := newArchive(t)
	end := bytes.LastIndexByte(b, '}') // only padding follows
	for n := end; n >= 0; n -= 7 {
		if _, _, err := readArchive(b[:n]); !errors.Is(err, archive.ErrDamaged) {
			t.Fatalf("cut at %d of %d: %v", n, len(b), err)
		}
	}
}

func TestBitFlipsAreDetected(t *testing.T) {
	b := newArchive(t)
	for _, at := range []string{"one\n", "xxxx", `"size": 8`, "runs/a/journal.jsonl", `"kind": "pex archive"`} {
		x := bytes.Clone(b)
		x[bytes.Index(x, []byte(at))+len(at)-2] ^= 1
		if _, _, err := readArchive(x); err == nil {
			t.Errorf("a flip in %q was not detected", at)
		}
	}
}

func TestOtherFilesAreRejected(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "text": strings.Repeat("no archive at all\n", 100), "zeros": strings.Repeat("\x00", 4096),
	} {
		if _, _, err := readArchive([]byte(text)); !errors.Is(err, archive.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNonLocalNamesAreRejected(t *testing.T) {
	for _, name := range []string{"", "/etc/passwd", "../x", "a/../../x", "a//b", "manifest.json"} {
		if err := archive.NewWriter(io.Discard, made, "").Add(name, made, 0, nil); err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
	b := newArchive(t)
	for _, name := range []string{"/bcde", "../bc"} { // the same length as "empty"
		x := bytes.Replace(b, []byte("empty"), []byte(name), 1)
		if _, got, err := readArchive(x); err == nil || got[name] != "" {
			t.Errorf("%q was read", name)
		}
	}
}

func TestErrorsOfReaderAndWriterAreReturned(t *testing.T) {
	if err := archive.NewWriter(io.Discard, made, "").Add("f", made, 10, strings.NewReader("short")); err == nil {
		t.Error("a short file was accepted")
	}
	mine := errors.New("mine")
	if _, err := archive.Read(bytes.NewReader(newArchive(t)), func(archive.File, io.Reader) error { return mine }); !errors.Is(err, mine) {
		t.Error(err)
	}
	// Files that the callback does not read are verified too.
	if _, err := archive.Read(bytes.NewReader(newArchive(t)), func(archive.File, io.Reader) error { return nil }); err != nil {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(newArchive(f))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, _ = readArchive(b)
	})
}
