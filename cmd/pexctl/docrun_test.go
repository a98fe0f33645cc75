//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/scaffold"
	"github.com/pexctl/pex/builtins/tty/ttytest"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/internal/doctest"
)

// notRun lists the blocks that no test can run, by page, with the reason.
var notRun = map[string][]string{
	"CONTRIBUTING.md":             {"takes minutes"},
	"README.md":                   {"builds pexctl, and runs this very test", "needs the network"},
	"docs/chat.md":                {"needs a terminal"},
	"docs/ci.md":                  {"needs jq", "part of a workflow of GitHub", "part of a workflow of GitHub"},
	"docs/evals.md":               {"needs GitHub"},
	"docs/mcp-server.md":          {"needs Claude Code", "needs Node.js and the network"},
	"docs/mcp.md":                 {"needs Node.js and the network", "needs Node.js and the network"},
	"docs/migrating-aurite.md":    {"the files are yours"},
	"docs/migrating.md":           {"it needs a model"},
	"docs/models.md":              {"needs Ollama with a model", "needs a key"},
	"docs/observability.md":       {"lines of a log", "needs Docker", "needs Langfuse", "needs Prometheus", "needs a collector"},
	"docs/performance.md":         slices.Repeat([]string{"takes minutes"}, 7),
	"docs/scale.md":               {"needs Temporal's own program, and two machines", "needs a Temporal server", "needs two machines"},
	"docs/security.md":            {"part of a workflow of GitHub"},
	"docs/serve.md":               {"needs Prometheus", "needs Prometheus"},
	"docs/tutorial.md":            {"needs a key", "needs a key", "needs the network"},
	"specs/refund-desk/README.md": {"kills pexctl"},
}

// handWritten returns README.md, CONTRIBUTING.md, the pages directly in docs and
// the one of a sample that shows outputs.
func handWritten(t *testing.T) []doctest.Page {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil || len(paths) < 8 {
		t.Fatalf("%d pages (%v)", len(paths), err)
	}
	var out []doctest.Page
	for _, path := range append(paths, filepath.Join(top, "README.md"), filepath.Join(top, "CONTRIBUTING.md"), filepath.Join(top, "specs", "refund-desk", "README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(top, path)
		if err != nil {
			t.Fatal(err)
		}
		page, err := doctest.Parse(filepath.ToSlash(name), string(text))
		if err != nil {
			t.Error(err)
		}
		out = append(out, page)
	}
	return out
}

// TestPagesDoWhatTheySay follows every page like a reader: its specs compile,
// its commands run, and their output is the one in the page.
func TestPagesDoWhatTheySay(t *testing.T) {
	oneGoroutine(t)
	root, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	env := []string{noSleep} // and nothing that changes what init suggests
	for _, p := range scaffold.Providers() {
		if p.Key != "" {
			env = append(env, p.Key+"=")
		}
	}
	house := doctest.Runner{Root: root, Env: env, Screen: screen} // OLLAMA_HOST is inherited from TestMain
	for _, page := range handWritten(t) {
		t.Run(strings.TrimSuffix(page.Name, ".md"), func(t *testing.T) {
			t.Parallel()
			goldentest.File(t, "../../../"+page.Name, house.RunPage(t, page))
		})
	}
}

// screen returns what a terminal shows after receiving sent. The terminal is
// wide enough to wrap no lines.
func screen(t *testing.T, sent []byte) string {
	t.Helper()
	s := ttytest.New(t, 1000, 200)
	if _, err := s.Write(sent); err != nil {
		t.Fatal(err)
	}
	return s.String()
}

// Every block that is not run is listed, so that none is skipped unnoticed.
func TestBlocksThatAreNotRunAreListed(t *testing.T) {
	got := map[string][]string{}
	for _, page := range handWritten(t) {
		for _, b := range page.Blocks {
			if why := b.NotRun(); why != "" {
				got[page.Name] = append(got[page.Name], why)
			}
		}
		slices.Sort(got[page.Name])
	}
	for name := range got {
		if len(got[name]) == 0 {
			delete(got, name)
		}
	}
	if diff := cmp.Diff(notRun, got); diff != "" {
		t.Errorf("blocks that are not run, in notRun (-) and in the pages (+):\n%s", diff)
	}
}
