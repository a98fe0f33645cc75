package index_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/providers/bleve/indexcache/index"
	"github.com/pexctl/pex/providers/bleve/indexcache/index/word"
)

func withVectors(t *testing.T, x *index.Index, path string, vectors ...[]float64) {
	t.Helper()
	list := passages(make([]string, len(vectors)))
	for i, v := range vectors {
		list[i].Text, list[i].Vector = "x", index.Unit(v)
	}
	if err := x.Put(index.File{Path: path, Size: 10_000}, list); err != nil {
		t.Fatal(err)
	}
	put(t, x)
}

func TestSimilar(t *testing.T) {
	dir, m := filepath.Join(t.TempDir(), "x"), must(word.New("standard"))(t)
	x := must(index.Create(dir, m))(t)
	withVectors(t, x, "a", []float64{3, 0}, []float64{1, 1})
	withVectors(t, x, "b", []float64{-1, 0})
	withVectors(t, x, "c", []float64{1, 0, 0})
	put(t, x, []string{"d", "no vector"})
	var known index.Vectors
	like := func(v ...float64) string { return shown(must(x.Similar(t.Context(), &known, index.Unit(v), 9))(t)) }
	if got := like(5, 0.1); got != "a:1 a:2" {
		t.Errorf("%q, want the vectors of the same direction, best first", got)
	}
	x = must(index.Open(dir, m))(t)
	fresh := known
	known = index.Vectors{}
	if got := like(5, 0.1); got != "a:1 a:2" {
		t.Errorf("%q after it was opened again", got)
	}
	known = fresh
	withVectors(t, x, "e", []float64{2, 0.2})
	x.Drop("a")
	put(t, x)
	if got := like(5, 0.1); got != "e:1" {
		t.Errorf("%q, want the current files", got)
	}
	if got := like(1, 1, 1); got != "c:1" {
		t.Errorf("%q, want the one with three dimensions", got)
	}
	if got := like(); got != "" {
		t.Errorf("an empty vector matches %s", got)
	}
	if got := index.Unit([]float64{0, 0}); got[0] != 0 || math.IsNaN(float64(got[1])) {
		t.Errorf("a zero vector became %v", got)
	}
}

func TestFuse(t *testing.T) {
	x := inMemory(t, []string{"f", "a", "b", "c"})
	hits := func(names string) (out []index.Hit) {
		for name := range strings.FieldsSeq(names) {
			out = append(out, words(t, x, name, 1)...)
		}
		return out
	}
	tests := []struct {
		name, words, like string
		weight            float64
		want              string
	}{
		{"a hit in both lists wins", "a b", "c b", 0.5, "f:2 f:1 f:3"},
		{"weight", "a", "b", 0.9, "f:2 f:1"},
		{"weight 0 is full-text only", "a", "b", 0, "f:1"},
		{"weight 1 is vectors only", "a", "b", 1, "f:2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, shown(index.Fuse(hits(tt.words), hits(tt.like), tt.weight, 9))); d != "" {
				t.Error(d)
			}
		})
	}
}
