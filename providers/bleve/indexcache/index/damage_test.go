package index_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/pexctl/pex/providers/bleve/indexcache/index"
	"github.com/pexctl/pex/providers/bleve/indexcache/index/word"
)

// create creates an index in a folder.
func create(t *testing.T, dir string) {
	t.Helper()
	x := must(index.Create(dir, must(word.New("en"))(t)))(t)
	put(t, x, []string{"a", "A: ship sea", "harbour"}, []string{"b", "ship"})
	put(t, x, []string{"c", "ship and wave", "sea"})
	withVectors(t, x, "d", []float64{1, 0}, []float64{1, 1})
}

// harm changes the files that match a pattern.
func harm(t *testing.T, pattern string, change func([]byte) []byte) {
	t.Helper()
	files := must(filepath.Glob(pattern))(t)
	if len(files) == 0 {
		t.Fatal("no", pattern)
	}
	for _, name := range files {
		if err := os.WriteFile(name, change(must(os.ReadFile(name))(t)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// use opens, searches and updates an index.
func use(t *testing.T, dir string) (found string, err error) {
	t.Helper()
	x, err := index.Open(dir, must(word.New("en"))(t))
	if err != nil {
		return "", err
	}
	hits, err := x.Words(t.Context(), "ship", 9)
	if err != nil {
		return "", err
	}
	similar, err := x.Similar(t.Context(), &index.Vectors{}, []float32{1, 0}, 9)
	if err == nil {
		err = errors.Join(x.Put(index.File{Path: "a", Size: 10_000}, passages([]string{"ship", "boat"})), x.Flush())
	}
	return shown(hits) + ", " + shown(similar), err
}

// checkUse checks that an index is intact or broken.
func checkUse(t *testing.T, dir, harm string) {
	t.Helper()
	found, err := use(t, dir)
	if err == nil && found != "b:1 a:1 c:1, d:1 d:2" || err != nil && !errors.Is(err, index.ErrBroken) {
		t.Errorf("%s: %q, error %v, want the right answer, or ErrBroken", harm, found, err)
	}
}

func TestUndamagedIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	create(t, dir)
	if found, err := use(t, dir); err != nil || found != "b:1 a:1 c:1, d:1 d:2" {
		t.Errorf("%q, %v", found, err)
	}
}

// patterns match the files of an index.
var patterns = []string{"manifest", "*.seg", "*.vec"}

func TestDamage(t *testing.T) {
	for _, name := range patterns {
		for kind, change := range map[string]func([]byte) []byte{
			"empty":   func([]byte) []byte { return nil },
			"cut":     func(b []byte) []byte { return b[:len(b)/2] },
			"longer":  func(b []byte) []byte { return append(b, 0) },
			"rubbish": func(b []byte) []byte { return bytes.Repeat([]byte("rubbish "), len(b)/8+1)[:len(b)] },
			"zeros":   func(b []byte) []byte { return make([]byte, len(b)) },
		} {
			dir := filepath.Join(t.TempDir(), "x")
			create(t, dir)
			harm(t, filepath.Join(dir, name), change)
			if _, err := use(t, dir); !errors.Is(err, index.ErrBroken) {
				t.Errorf("%s %s: error %v, want ErrBroken", kind, name, err)
			}
		}
	}
}

func TestMissingFiles(t *testing.T) {
	for _, name := range patterns {
		dir := filepath.Join(t.TempDir(), "x")
		create(t, dir)
		for _, file := range must(filepath.Glob(filepath.Join(dir, name)))(t) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := use(t, dir); !errors.Is(err, index.ErrBroken) {
			t.Errorf("%s: error %v, want ErrBroken", name, err)
		}
	}
}

func TestFlippedBytes(t *testing.T) {
	for _, name := range patterns {
		for at := range 24 {
			dir := filepath.Join(t.TempDir(), "x")
			create(t, dir)
			harm(t, filepath.Join(dir, name), func(b []byte) []byte { b[len(b)*at/24] ^= 0x20; return b })
			checkUse(t, dir, fmt.Sprintf("%s at %d/24", name, at)) // the case of a hexadecimal digit does not matter
		}
	}
}

// The list of files must match the segments.
func TestListOfFiles(t *testing.T) {
	for name, change := range map[string]func(m map[string]any){
		"a passage is missing":   func(m map[string]any) { m["files"].([]any)[0].(map[string]any)["passages"] = 3 },
		"a segment is missing":   func(m map[string]any) { m["segments"] = m["segments"].([]any)[1:] },
		"a file twice":           func(m map[string]any) { m["files"] = append(m["files"].([]any), m["files"].([]any)[0]) },
		"a file without a path":  func(m map[string]any) { m["files"].([]any)[0].(map[string]any)["path"] = "" },
		"a file of another type": func(m map[string]any) { m["files"].([]any)[0] = 1 },
		"no file":                func(m map[string]any) { m["files"].([]any)[0] = nil },
	} {
		dir := filepath.Join(t.TempDir(), "x")
		create(t, dir)
		harm(t, filepath.Join(dir, "manifest"), func(raw []byte) []byte {
			var m map[string]any
			if err := json.Unmarshal(raw[8:], &m); err != nil {
				t.Fatal(err)
			}
			change(m)
			text, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Appendf(nil, "%08x%s", crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)), text)
		})
		if _, err := use(t, dir); !errors.Is(err, index.ErrBroken) {
			t.Errorf("%s: error %v, want ErrBroken", name, err)
		}
	}
}

// FuzzSegment checks that a segment with a right checksum and any content neither crashes the process nor is accepted
// with passages that do not exist.
func FuzzSegment(f *testing.F) {
	for _, raw := range [][]byte{nil, []byte("pexseg1\n"), index.EncodeSegment("a", "ship sea"), index.EncodeSegment("b", "ship", "ship of the sea ship", "")} {
		f.Add(raw, "ship")
	}
	f.Fuzz(func(t *testing.T, raw []byte, term string) {
		n, passages, err := index.UseSegment(raw, term)
		if err != nil {
			return
		}
		for _, p := range passages {
			if p < 0 || p >= n {
				t.Errorf("passage %d of %d", p, n)
			}
		}
	})
}
