package index_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/providers/bleve/indexcache/index"
	"github.com/pexctl/pex/providers/bleve/indexcache/index/word"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// inMemory returns an in-memory index of files in the form of put.
func inMemory(t testing.TB, files ...[]string) *index.Index {
	t.Helper()
	x := index.InMemory(must(word.New("standard"))(t))
	put(t, x, files...)
	return x
}

// put adds files. Each is a path followed by passages: one line of words each, with the context before a colon.
func put(t testing.TB, x *index.Index, files ...[]string) {
	t.Helper()
	for _, f := range files {
		if err := x.Put(index.File{Path: f[0], Size: 10_000, Modified: 7}, passages(f[1:])); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Flush(); err != nil {
		t.Fatal(err)
	}
}

func passages(texts []string) (out []index.Passage) {
	for i, text := range texts {
		context, words, ok := strings.Cut(text, ":")
		if !ok {
			context, words = "", text
		}
		out = append(out, index.Passage{
			Place: index.Place{Start: i + 1, End: i + 1, From: 10 * i, To: 10*i + 9, Heading: context},
			Text:  words, Context: []string{context},
		})
	}
	return out
}

func words(t testing.TB, x *index.Index, question string, n int) []index.Hit {
	t.Helper()
	return must(x.Words(t.Context(), question, n))(t)
}

func shown(hits []index.Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s:%d", h.File.Path, h.Place.Start))
	}
	return strings.Join(out, " ")
}

func scores(hits []index.Hit) (out []string) {
	for _, h := range hits {
		out = append(out, fmt.Sprint(h.File.Path, h.Place.Start, h.Score))
	}
	return out
}

func TestWords(t *testing.T) {
	x := inMemory(t,
		[]string{"b", "ship sea", "the sea", "harbour: boats lie"},
		[]string{"a", "ship ship ship", "the harbour of the boats and of much else that is said at length", "sea"},
	)
	tests := []struct{ name, question, want string }{
		{"more often is better", "ship", "a:1 b:1"},
		{"shorter is better", "sea", "a:3 b:1 b:2"},
		{"more of the words is better", "sea ship", "b:1 a:1 a:3 b:2"},
		{"context counts", "harbour", "b:3 a:2"},
		{"two terms", "the sea", "b:2 a:2 a:3 b:1"},
		{"nothing", "cannon", ""},
		{"no words", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, shown(words(t, x, tt.question, 10))); d != "" {
				t.Error(d)
			}
		})
	}
	alike := inMemory(t, []string{"z", "q", "q"}, []string{"y", "q"}, []string{"y/a", "q"}, []string{"y!", "q"})
	if d := cmp.Diff("y:1 y!:1 y/a:1 z:1", shown(words(t, alike, "q", 4))); d != "" {
		t.Error(d)
	}
}

// The ratio is computed by hand for 2 passages of 1 and 9 terms, with a mean of 5. The term frequency is a square root:
// 1/(1+1.2*(0.25+0.75*1/5)) to 1/(1+1.2*(0.25+0.75*9/5)). A mean of distinct terms would give a much larger
// ratio.
func TestScoreUsesTrueLengths(t *testing.T) {
	x := inMemory(t, []string{"a", "ship", "ship sea sea sea sea sea sea sea sea"})
	hits := words(t, x, "ship", 2)
	if len(hits) != 2 {
		t.Fatal(shown(hits))
	}
	want := (1 + 1.2*(0.25+0.75*9/5)) / (1 + 1.2*(0.25+0.75*1/5))
	if got := hits[0].Score / hits[1].Score; math.Abs(got-want) > 1e-4 {
		t.Errorf("ratio %v, want %v", got, want)
	}
}

// Scores do not depend on files that were indexed before.
func TestScoresDependOnlyOnCurrentFiles(t *testing.T) {
	var files [][]string
	for i := range 40 {
		files = append(files, []string{fmt.Sprint(i), strings.Repeat("ship ", i%5+1) + "sea", strings.Repeat("wave ", i%7) + "ship"})
	}
	fresh := inMemory(t, files...)
	old := must(index.Create(filepath.Join(t.TempDir(), "x"), must(word.New("standard"))(t)))(t)
	for i, f := range files {
		put(t, old, f, []string{"gone", "ship of the past", "sea"})
		if i%3 == 0 {
			put(t, old, []string{f[0], "ship", "another ship", "a third ship"}, f)
		}
	}
	old.Drop("gone")
	put(t, old)
	for _, q := range []string{"ship", "sea wave", "past"} {
		if d := cmp.Diff(scores(words(t, fresh, q, 99)), scores(words(t, old, q, 99))); d != "" {
			t.Errorf("%s: %s", q, d)
		}
	}
}

func TestIndexIsStored(t *testing.T) {
	dir, m := filepath.Join(t.TempDir(), "x"), must(word.New("en"))(t)
	x := must(index.Create(dir, m))(t)
	put(t, x, []string{"ä b", "A B: ships sail", "more"}, []string{"empty"})
	x = must(index.Open(dir, m))(t)
	if d := cmp.Diff("ä b:1", shown(words(t, x, "sailing ship", 9))); d != "" {
		t.Error(d)
	}
	want := map[string]*index.File{
		"ä b":   {Path: "ä b", Size: 10_000, Modified: 7, Passages: 2, Terms: 4},
		"empty": {Path: "empty", Size: 10_000, Modified: 7},
	}
	if d := cmp.Diff(want, x.Files()); d != "" {
		t.Error(d)
	}
	put(t, x, []string{"ä b", "a boat"})
	if got := shown(words(t, x, "ship", 9)) + shown(words(t, x, "boat", 9)); got != "ä b:1" || x.Passages() != 1 {
		t.Errorf("%q, %d passages, want only the boat", got, x.Passages())
	}
}

// Changes that were not flushed are lost.
func TestUnflushedChangesAreLost(t *testing.T) {
	dir, m := filepath.Join(t.TempDir(), "x"), must(word.New("en"))(t)
	x := must(index.Create(dir, m))(t)
	put(t, x, []string{"a", "ship"})
	if err := x.Put(index.File{Path: "b", Size: 10_000}, passages([]string{"ship"})); err != nil {
		t.Fatal(err)
	}
	x.Drop("a")
	x = must(index.Open(dir, m))(t)
	if got := shown(words(t, x, "ship", 9)); got != "a:1" || len(x.Files()) != 1 {
		t.Errorf("%q of %d files, want a:1 of one", got, len(x.Files()))
	}
}

// A file larger than one batch is found completely and dropped completely.
func TestLargeFiles(t *testing.T) {
	x := inMemory(t)
	text := strings.Repeat("wave ", 20_000)
	for i := range 50 {
		put(t, x, slices.Concat([]string{fmt.Sprint("f", i)}, []string{"ship " + text[:1000]}))
	}
	put(t, x, slices.Concat([]string{"large"}, slices.Repeat([]string{"hull " + text}, 30)))
	if got := len(words(t, x, "hull", 99)); got != 30 {
		t.Errorf("%d passages, want 30", got)
	}
	x.Drop("large")
	put(t, x)
	if got := len(words(t, x, "hull", 99)); got != 0 || x.Passages() != 50 {
		t.Errorf("%d passages of the dropped file remain, %d in all", got, x.Passages())
	}
}

// Many small changes leave few segments, and the same answers.
func TestSmallSegmentsAreMerged(t *testing.T) {
	dir, a := filepath.Join(t.TempDir(), "x"), must(word.New("standard"))(t)
	x, memory := must(index.Create(dir, a))(t), inMemory(t)
	for i := range 100 {
		for _, x := range []*index.Index{x, memory} {
			put(t, x, []string{fmt.Sprint("f", i%30), strings.Repeat("ship ", i%4+1) + "sea", fmt.Sprint("number", i)})
			if i%10 == 0 {
				x.Drop(fmt.Sprint("f", (i+5)%30))
				put(t, x)
			}
		}
		if files := must(os.ReadDir(dir))(t); len(files) > 10 {
			t.Fatalf("%d files after %d changes", len(files), i+1)
		}
	}
	fresh := inMemory(t)
	for i := 70; i < 100; i++ {
		if path := fmt.Sprint("f", i%30); x.Files()[path] != nil {
			put(t, fresh, []string{path, strings.Repeat("ship ", i%4+1) + "sea", fmt.Sprint("number", i)})
		}
	}
	for _, q := range []string{"ship", "sea ship", "number99", "number3"} {
		want := scores(words(t, fresh, q, 99))
		for name, x := range map[string]*index.Index{"stored": x, "in memory": memory, "opened": must(index.Open(dir, a))(t)} {
			if d := cmp.Diff(want, scores(words(t, x, q, 99))); d != "" {
				t.Errorf("%s: %s: %s", name, q, d)
			}
		}
	}
}
