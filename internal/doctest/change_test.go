package doctest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/internal/doctest"
)

func TestDiffsChangeFiles(t *testing.T) {
	cases := []struct{ name, text, diff, want, problem string }{
		{"a line", "a\nb\nc\n", "--- f\n-b\n+B\n", "a\nB\nc\n", ""},
		{"an added line, after another", "a\nb\n", "--- f\n a\n+x\n", "a\nx\nb\n", ""},
		{"an added line, before another", "a\nb\n", "--- f\n+x\n a\n", "x\na\nb\n", ""},
		{"two places", "a\nb\nc\n", "--- f\n-a\n+A\n@@\n-c\n", "A\nb\n", ""},
		{"an item of a list", "- a\n- b\n", "--- f\n-- b\n+- c\n", "- a\n- c\n", ""},
		{"an empty line", "a\n\nb\n", "--- f\n a\n\n-b\n+c\n", "a\n\nc\n", ""},
		{"a missing line", "a\n", "--- f\n-b\n", "", "must occur once, but occurs 0 times"},
		{"a line that occurs twice", "a\na\n", "--- f\n-a\n", "", "must occur once, but occurs 2 times"},
		{"a part of a line", "ab\n", "--- f\n-b\n+c\n", "", "must occur once, but occurs 0 times"},
		{"no context", "a\n", "--- f\n+b\n", "", "without context"},
		{"not a diff", "a\n", "--- f\na\n", "", "a line of a diff must start with"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := doctest.Patch(c.text, c.diff)
			switch {
			case c.problem != "" && (err == nil || !strings.Contains(err.Error(), c.problem)):
				t.Errorf("got %v, want %q", err, c.problem)
			case c.problem == "" && err != nil:
				t.Error(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPartsAreMergedIntoDocuments(t *testing.T) {
	cases := []struct{ name, whole, part, want string }{
		{"a new section", "a: 1\n", "b: 2\n", "a: 1\nb: 2\n"},
		{"a new entry", "s:\n    a: 1\n", "s: {b: 2}\n", "s:\n    a: 1\n    b: 2\n"},
		{"an entry of the same name is replaced", "s:\n    a:\n        x: 1\n", "s: {a: {y: 2}}\n", "s:\n    a: {y: 2}\n"},
		{"a list is replaced", "s:\n    - a\n", "s: [b]\n", "s: [b]\n"},
		{"a date stays a date", "a: 1\n", "d: 2026-12-31\n", "a: 1\nd: 2026-12-31\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := doctest.Overlay(c.whole, c.part)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if _, err := doctest.Overlay("a: 1\n", "- b\n"); err == nil {
		t.Error("a list was merged into a mapping")
	}
}
