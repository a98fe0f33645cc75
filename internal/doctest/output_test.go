package doctest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/internal/doctest"
)

func TestOutputsThatMatch(t *testing.T) {
	cases := []struct {
		name, want, got string
		same            bool
	}{
		{"equal", "a\nb\n", "a\nb\n", true},
		{"another word", "a\n", "b\n", false},
		{"an additional line", "a\n", "a\nb\n", false},
		{"a missing line", "a\nb\n", "a\n", false},
		{"nothing", "", "", true},
		{"unexpected output", "", "a\n", false},
		{"ids of runs", "run r-20261122-041546-26ef9b54\n", "run r-20270101-000000-00000000\n", true},
		{"an id and another word", "run r-20261122-041546-26ef9b54\n", "run cake\n", false},
		{"durations", "ok in 12ms, 1m2s\n", "ok in 1.5s, 3µs\n", true},
		{"a number is not a duration", "12 steps\n", "13 steps\n", false},
		{"times", "at 2026-11-22T05:16:21Z\n", "at 2027-01-01T00:00:00.5Z\n", true},
		{"dates", "on 2026-11-22\n", "on 2026-11-23\n", false},
		{"digests", "by 733be181\n", "by 0a1b2c3d4e\n", true},
		{"numbers are not digests", "by 73300181\n", "by 73300182\n", false},
		{"columns", "A    B\n", "A  B\n", true},
		{"columns that run together", "A B\n", "AB\n", false},
		{"dots for some lines", "a\n...\nd\n", "a\nb\nc\nd\n", true},
		{"dots for none", "a\n...\n", "a\n", true},
		{"dots at the beginning", "...\nb\n", "a\nb\n", true},
		{"dots in two places", "...\nb\n...\nd\n", "a\nb\nc\nd\n", true},
		{"dots, but another end", "a\n...\nd\n", "a\nb\n", false},
		{"dots, but another start", "a\n...\nd\n", "b\nd\n", false},
		{"dots, but one line for both ends", "a\n...\na\n", "a\n", false},
		{"a title truncated elsewhere", "s1 Find the d…  1 tool · 2ms\n", "s1 Find the day… 1 tool · 12ms\n", true},
		{"a title that is not truncated", "s1 Find the d…  1 tool\n", "s1 Find the day 1 tool\n", true},
		{"another title", "s1 Find the d…  1 tool\n", "s1 Find a d… 1 tool\n", false},
		{"a title, but another end", "s1 Find the d…  1 tool\n", "s1 Find the day 2 tools\n", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if doctest.Matches(c.want, c.got) != c.same {
				t.Errorf("same is %t, want %t:\n%s---\n%s", !c.same, c.same, doctest.Normal(c.want), doctest.Normal(c.got))
			}
		})
	}
}

// Lines that the page leaves out stay left out in updated outputs.
func TestAbridgedOutputs(t *testing.T) {
	cases := []struct{ name, old, got, want string }{
		{"nothing left out", "a\n", "b\nc\n", "b\nc\n"},
		{"the end", "a\n...\n", "b\nc\nd\n", "b\n...\n"},
		{"the middle", "a\n...\nd\n", "b\nc\nd\ne\n", "b\n...\ne\n"},
		{"a piece within", "a\n...\nMID\n...\nz\n", "b\nx\nMID\ny\nw\n", "b\n...\nMID\n...\nw\n"},
		{"a piece that is gone", "a\n...\nMID\n...\nz\n", "b\nx\nw\n", "b\n...\nw\n"},
		{"a truncated line", "data: 1 run at 04:15:46 …\n", "data: 1 run at 05:16:47 of 3\ndata: 2\n", "data: 1 run at 04:15:46 …\ndata: 2\n"},
		{"less than was shown", "a\nb\n...\nc\n", "x\n", "x\n...\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := doctest.Abridge(c.old, c.got)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if !doctest.Matches(got, c.got) {
				t.Errorf("%q does not match %q", got, c.got)
			}
		})
	}
}
