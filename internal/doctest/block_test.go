package doctest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/internal/doctest"
)

func TestBlocksOfAPage(t *testing.T) {
	page, err := doctest.Parse("page.md", strings.Join([]string{
		"# A page", "<!-- with: specs/hello -->", "",
		"```yaml", "# spec.yaml", "a: 1", "```", "",
		"<!-- over: suite.yaml -->", "```yaml", "b: 2", "```", "",
		"- In a list:", "", "  <!-- terminal: 80 -->", "  ```console", "  $ pexctl run", "    indented", "  ```", "",
		"```md prompts/a.md", "text", "```", "```diff", "--- spec.yaml", "-a", "```",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range page.Blocks {
		got = append(got, strings.Join([]string{b.Lang, b.File, b.Markers["over"] + b.Markers["terminal"], strings.TrimSpace(b.Body)}, "|"))
	}
	want := []string{
		"with|||specs/hello",
		"yaml|spec.yaml||# spec.yaml\na: 1",
		"yaml||suite.yaml|b: 2",
		"console||80|$ pexctl run\n  indented",
		"md|prompts/a.md||text",
		"diff|spec.yaml||--- spec.yaml\n-a",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Commands are only allowed in blocks that are executed.
func TestRejectedPages(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"an indented command", "text\n\n    $ pexctl run x\n", "page.md:3: command outside of a console or sh block"},
		{"a command without a prompt", "    pexctl run x\n", "page.md:1: command outside of a console or sh block"},
		{"a command in a plain block", "```\n$ pexctl run\n```\n", "page.md:2: command outside of a console or sh block"},
		{"a command in a text block", "```text\nx\npexctl run\n```\n", "page.md:3: command outside of a console or sh block"},
		{"an unknown marker", "<!-- skipped: why -->\n", `page.md:1: unknown marker "skipped"`},
		{"a marker without a block", "<!-- not run: why -->\ntext\n", "page.md:2: the marker above has no block"},
		{"a marker at the end", "<!-- not run: why -->\n", "page.md: the marker at the end has no block"},
		{"an unclosed block", "x\n```sh\nls\n", "page.md:2: the block is not closed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if _, err := doctest.Parse("page.md", c.text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
