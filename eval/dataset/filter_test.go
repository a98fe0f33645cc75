package dataset_test

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/eval/dataset"
)

// numbered returns the cases c0 to c(n-1), every third tagged.
func numbered(n int) dataset.Cases {
	return func() iter.Seq2[dataset.Case, error] {
		return func(yield func(dataset.Case, error) bool) {
			for i := range n {
				c := dataset.Case{ID: fmt.Sprint("c", i)}
				if i%3 == 0 {
					c.Tags = []string{"third"}
				}
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

func TestFilter(t *testing.T) {
	for _, row := range []struct {
		name   string
		filter dataset.Filter
		want   []string
		words  string
	}{
		{"none", dataset.Filter{}, []string{"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11"}, ""},
		{"tags", dataset.Filter{Tags: []string{"x", "third"}}, []string{"c0", "c3", "c6", "c9"}, "tagged x or third"},
		{"ids", dataset.Filter{Match: regexp.MustCompile(`^c1`)}, []string{"c1", "c10", "c11"}, "ids like ^c1"},
		{"set", dataset.Filter{Only: func(id string) bool { return id == "c2" }, Why: "failed in e-1"}, []string{"c2"}, "failed in e-1"},
		{"first", dataset.Filter{Tags: []string{"third"}, First: 2}, []string{"c0", "c3"}, "tagged third, the first 2"},
		{"none left", dataset.Filter{Tags: []string{"x"}, Sample: 2}, nil, "tagged x, 2 by chance (seed 0)"},
		{"more than there are", dataset.Filter{Tags: []string{"third"}, Sample: 9}, []string{"c0", "c3", "c6", "c9"}, "tagged third, 9 by chance (seed 0)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := ids(t, row.filter.Of(numbered(12))); !cmp.Equal(got, row.want) || row.filter.String() != row.words {
				t.Fatal(got, row.filter.String())
			}
		})
	}
}

func TestSampleIsReproducible(t *testing.T) {
	pick := func(n int, seed int64, of int) []string {
		return ids(t, dataset.Filter{Sample: n, Seed: seed}.Of(numbered(of)))
	}
	one := pick(50, 1, 1000)
	if len(one) != 50 || !cmp.Equal(one, pick(50, 1, 1000)) || cmp.Equal(one, pick(50, 2, 1000)) {
		t.Fatal(one)
	}
	common := 0
	for _, id := range pick(50, 1, 1100) { // a hundred cases more
		if slices.Contains(one, id) {
			common++
		}
	}
	if common < 35 {
		t.Fatalf("only %d of 50 are still selected", common)
	}
}

func TestShardsCoverAllCases(t *testing.T) {
	whole := dataset.Filter{Sample: 100, Seed: 3, First: 80}
	want := ids(t, whole.Of(numbered(1000)))
	var got []string
	for i := range 3 {
		part := whole
		part.Shard, part.Shards = i+1, 3
		some := ids(t, part.Of(numbered(1000)))
		if len(some) < 15 || len(some) > 40 {
			t.Errorf("shard %d has %d of 80 cases", i+1, len(some))
		}
		got = append(got, some...)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !cmp.Equal(got, want) || len(want) != 80 {
		t.Fatal(cmp.Diff(want, got))
	}
}

func TestFilterReturnsErrors(t *testing.T) {
	broken := errors.New("broken")
	cases := func() iter.Seq2[dataset.Case, error] {
		return func(yield func(dataset.Case, error) bool) { yield(dataset.Case{}, broken) }
	}
	for _, f := range []dataset.Filter{{}, {Sample: 3}} {
		if _, err := all(f.Of(cases)); !errors.Is(err, broken) {
			t.Fatal(err)
		}
	}
}

func TestParseShard(t *testing.T) {
	if i, n, err := dataset.ParseShard("2/5"); i != 2 || n != 5 || err != nil {
		t.Fatal(i, n, err)
	}
	for _, s := range []string{"", "2", "0/2", "3/2", "a/2", "1/b", "1/2/3"} {
		if _, _, err := dataset.ParseShard(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}
