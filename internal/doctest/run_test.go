//go:build unix

package doctest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/internal/doctest"
)

// Correct output stays unchanged; other output is updated in place, and nothing else changes.
func TestRunPageUpdatesOutputs(t *testing.T) {
	text := strings.Join([]string{
		"<!-- run: mkdir here -->", "",
		"```json here/a.json", `{"a": 1}`, "```", "",
		"```sh", "cd here", "```", "",
		"- In a list:", "", "  ```console", "  $ cat a.json", `  {"a": 2}`, "  $ echo 3s", "  4s", "  ```", "",
		"```diff", "--- a.json", `-{"a": 1}`, `+{"a": 3}`, "```", "",
		"```console", "$ cat \\", "  a.json; pwd", "gone", "and gone", "```", "",
		"<!-- not run: dangerous -->", "```console", "$ rm -r /", "gone", "```", "the end", "",
	}, "\n")
	page, err := doctest.Parse("page.md", text)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(text, `  {"a": 2}`, `  {"a": 1}`, 1)
	want = strings.Replace(want, "  4s", "  3s", 1) // the block is written as a whole
	want = strings.Replace(want, "gone\nand gone", "{\"a\": 3}\n/home/you/here", 1)
	if diff := cmp.Diff(want, doctest.Runner{}.RunPage(t, page)); diff != "" {
		t.Error(diff)
	}
}
