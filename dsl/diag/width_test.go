package diag_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/diag"
)

// Source lines and carets fit into a terminal of any width.
func TestSnippetFitsTerminal(t *testing.T) {
	snippet := "llms: {main: {provider: openai, model: gpt-5.4-mini, max_tokens: 5, options: {a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8}}}"
	for _, columns := range []int{40, 80, 100} {
		for column := 1; column <= len(snippet); column++ {
			l := diag.List{{Code: "PEX010", Severity: diag.Error, File: "s", Line: 4, Column: column, Snippet: snippet, Message: "m"}}
			lines := strings.Split(l.Format(columns, func(_ diag.Part, text string) string { return text }), "\n")
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > columns {
					t.Fatalf("column %d: %d characters for %d columns: %q", column, n, columns, line)
				}
			}
			shown, caret := []rune(lines[1]), utf8.RuneCountInString(lines[2])-1
			if got := string(shown[caret:min(caret+3, len(shown))]); !strings.HasPrefix(snippet[column-1:], strings.TrimSuffix(got, "…")) {
				t.Fatalf("column %d: the caret is at %q of %q", column, got, lines[1])
			}
		}
	}
}
