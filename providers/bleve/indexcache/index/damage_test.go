package index_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/blevesearch/bleve/v2"

	"github.com/pexctl/pex/providers/bleve/indexcache/index"
)

// create creates an index in a folder.
func create(t *testing.T, dir string) {
	t.Helper()
	x := must(index.Create(dir, must(index.Mapping("en"))(t)))(t)
	put(t, x, []string{"a", "A: ship sea", "harbour"}, []string{"b", "ship"})
	put(t, x, []string{"c", "ship and wave", "sea"})
	withVectors(t, x, "d", []float64{1, 0}, []float64{1, 1})
	closed(t, x)
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
	x, err := index.Open(dir, must(index.Mapping("en"))(t))
	if err != nil {
		return "", err
	}
	hits, err := x.Words(t.Context(), "ship", 9)
	if err == nil {
		_, err = x.Similar(t.Context(), &index.Vectors{}, []float32{1, 0}, 9)
	}
	if err == nil {
		err = errors.Join(x.Put(index.File{Path: "a", Size: 10_000}, passages([]string{"ship", "boat"})), x.Flush())
	}
	if err != nil {
		x.Abandon()
		return "", err
	}
	return shown(hits), x.Close()
}

func TestDamage(t *testing.T) {
	for _, name := range []string{"index_meta.json", "store/root.bolt", "store/*.zap"} {
		for kind, change := range map[string]func([]byte) []byte{
			"empty":   func([]byte) []byte { return nil },
			"cut":     func(b []byte) []byte { return b[:len(b)/2] },
			"rubbish": func(b []byte) []byte { return bytes.Repeat([]byte("rubbish "), len(b)/8+1)[:len(b)] },
			"zeros":   func(b []byte) []byte { return make([]byte, len(b)) },
		} {
			t.Run(kind+" "+filepath.Base(name), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "x")
				create(t, dir)
				harm(t, filepath.Join(dir, name), change)
				found, err := use(t, dir)
				// An index that lost its segments is empty.
				if err == nil && found != "b:1 a:1 c:1" && found != "" || err != nil && !errors.Is(err, index.ErrBroken) {
					t.Errorf("%q, error %v, want the right answer, none, or ErrBroken", found, err)
				}
			})
		}
	}
}

// The process survives any truncated file. bolt maps the original length.
func TestTruncatedFiles(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "x")
	create(t, whole)
	x := must(index.Open(whole, must(index.Mapping("en"))(t)))(t)
	for i := range 20 { // moves the parts of bolt's file
		put(t, x, []string{string(rune('d' + i)), "ship"})
	}
	closed(t, x)
	for at := range 16 {
		dir := filepath.Join(t.TempDir(), "x")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		harm(t, filepath.Join(dir, "store/root.bolt"), func(b []byte) []byte { return b[:len(b)*at/16] })
		if _, err := use(t, dir); err != nil && !errors.Is(err, index.ErrBroken) {
			t.Errorf("at %d/16: %v", at, err)
		}
	}
}

// The process survives any flipped byte.
func TestFlippedBytes(t *testing.T) {
	for at := range 24 {
		dir := filepath.Join(t.TempDir(), "x")
		create(t, dir)
		harm(t, filepath.Join(dir, "store/*.zap"), func(b []byte) []byte { b[len(b)*at/24] ^= 0xff; return b })
		if _, err := use(t, dir); err != nil && !errors.Is(err, index.ErrBroken) {
			t.Errorf("at %d/24: %v", at, err)
		}
	}
}

// The list of files must match the index.
func TestListOfFiles(t *testing.T) {
	const list = "pex_files"
	tests := []struct {
		name   string
		change func(b bleve.Index) error
		broken bool
	}{
		{"a passage is missing", func(b bleve.Index) error { return b.Delete("b\x000000000") }, true},
		{"invalid JSON", func(b bleve.Index) error { return b.SetInternal([]byte(list), []byte("[{")) }, true},
		{"a file twice", func(b bleve.Index) error {
			return b.SetInternal([]byte(list), []byte(`[{"path":"a"},{"path":"a"}]`))
		}, true},
		{"a file without a path", func(b bleve.Index) error { return b.SetInternal([]byte(list), []byte(`[{}]`)) }, true},
		{"terms that were not counted", func(b bleve.Index) error {
			return b.SetInternal([]byte(list), []byte(`[{"path":"a","size":9,"passages":7,"terms":-1}]`))
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "x")
			create(t, dir)
			b := must(bleve.Open(dir))(t)
			if err := errors.Join(tt.change(b), b.Close()); err != nil {
				t.Fatal(err)
			}
			x, err := index.Open(dir, must(index.Mapping("en"))(t))
			if tt.broken {
				if !errors.Is(err, index.ErrBroken) {
					t.Errorf("error %v, want ErrBroken", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer closed(t, x)
			if f := x.Files()["a"]; f.Size != -1 || f.Terms != 0 {
				t.Errorf("%+v: the file counts as indexed", f)
			}
		})
	}
}
