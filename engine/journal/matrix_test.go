package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

// closedRun makes a run of five records whose session ended, and gives its
// folder with what it holds.
func closedRun(t *testing.T, h *journal.Home, run string) []journal.Record {
	t.Helper()
	f, err := h.Create(run)
	if err != nil {
		t.Fatal(err)
	}
	_, recs := sample(t)
	recs = recs[:5]
	appended(t, f, recs...)
	f.SetHead([]byte(`{"status":"completed"}`))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return recs
}

// damages are the things that happen to a file.
func damages(t *testing.T, path string) map[string]func() error {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(b []byte) func() error { return func() error { return os.WriteFile(path, b, 0o600) } }
	out := map[string]func() error{
		"zero":     write(make([]byte, len(b))),
		"empty":    write(nil),
		"halve":    write(b[:len(b)/2]),
		"doubled":  write(append(bytes.Clone(b), b...)),
		"reversed": write(reversed(b)),
		"delete":   func() error { return os.Remove(path) },
	}
	for i := range 16 {
		at := i * (len(b) - 1) / 15 // the first and the last byte are among them
		x := bytes.Clone(b)
		x[at] ^= 1 << (i % 8)
		out[fmt.Sprint("flip at ", at)] = write(x)
	}
	for n, at := 0, 0; ; n++ {
		k := bytes.IndexByte(b[at:], '\n')
		if k < 0 || at+k+1 == len(b) {
			break
		}
		at += k + 1
		out[fmt.Sprint("cut behind line ", n+1)] = write(b[:at])
	}
	return out
}

func reversed(b []byte) []byte {
	b = bytes.Clone(b)
	slices.Reverse(b)
	return b
}

// Every file of a run, damaged in every way: the run is intact or ErrCorrupt,
// never shorter, never gone.
func TestDamageOfAnyFileIsSeenOrDoesNoHarm(t *testing.T) {
	for _, file := range []string{"r.jsonl", "_index"} {
		path := filepath.Join("runs", file)
		probe := t.TempDir()
		closedRun(t, home(t, probe, journal.Exit), "r")
		for name := range damages(t, filepath.Join(probe, path)) {
			t.Run(file+"/"+name, func(t *testing.T) {
				dir := t.TempDir()
				h := home(t, dir, journal.Exit)
				want := closedRun(t, h, "r")
				if err := damages(t, filepath.Join(dir, path))[name](); err != nil {
					t.Fatal(err)
				}
				if ids, err := h.List(); err != nil || !slices.Equal(ids, []string{"r"}) {
					t.Fatal("list:", ids, err)
				}
				recs, err := h.Read("r")
				judged(t, "read", recs, want, err)
				found, cerr := h.Check("r")
				if cerr != nil || (err != nil) != slices.ContainsFunc(found, func(f journal.Finding) bool { return f.Damage }) {
					t.Fatalf("read says %v, check %v %v", err, found, cerr)
				}
				f, err := h.Open("r")
				if err == nil {
					recs, err = f.Load()
					f.Close()
				}
				judged(t, "open", recs, want, err)
				var exists *journal.ExistsError
				if _, err := h.Create("r"); !errors.As(err, &exists) && !errors.Is(err, journal.ErrCorrupt) {
					t.Fatal("create:", err)
				}
				if file != "r.jsonl" && err != nil {
					t.Fatal("harm was done:", err)
				}
			})
		}
	}
}

func judged(t *testing.T, how string, got, want []journal.Record, err error) {
	t.Helper()
	switch {
	case err == nil:
		same(t, got, want)
	case !errors.Is(err, journal.ErrCorrupt) || errors.Is(err, fs.ErrNotExist):
		t.Fatalf("%s: %v", how, err)
	}
}
