package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/goldentest"
)

// TestEditorOffersQuickFixes compares the quick fixes that the server offers for each file of testdata/lsp/quickfix with the
// golden lines that they produce.
func TestEditorOffersQuickFixes(t *testing.T) {
	e := startEditor(t)
	version := 0
	goldentest.Each(t, "testdata/lsp/quickfix/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		dir := t.TempDir()
		a.Extract(t, dir)
		uri := "file://" + filepath.ToSlash(filepath.Join(dir, "spec.yaml"))
		text := a.Input(t, "spec.yaml")
		version++
		found := e.open(uri, text, version)
		answer := e.ask("textDocument/codeAction", fmt.Sprintf(
			`{"textDocument":{"uri":%q},"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"context":{"diagnostics":%s}}`, uri, found))
		var actions []struct {
			Title string
			Edit  struct {
				Changes map[string][]struct {
					NewText string
					Range   struct{ Start, End struct{ Line, Character int } }
				}
			}
		}
		if err := json.Unmarshal(answer, &actions); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		lines := strings.SplitAfter(text, "\n")
		for _, action := range actions {
			fmt.Fprintf(&out, "%s:\n", action.Title)
			for _, x := range action.Edit.Changes[uri] {
				from, to := x.Range.Start, x.Range.End
				rest := ""
				if to.Line < len(lines) {
					rest = lines[to.Line][to.Character:]
				}
				before := strings.Join(lines[from.Line:min(to.Line+1, len(lines))], "")
				fmt.Fprintf(&out, "- %q\n+ %q\n", before, lines[from.Line][:from.Character]+x.NewText+rest)
			}
		}
		a.Want(t, "changes", out.String())
	})
}
