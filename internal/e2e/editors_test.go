//go:build e2e && unix

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pexctl/pex/internal/e2e"
)

const brokenSpec = "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: x}\nllms: {main: {provider: scripted}}\nplanner:\n  plan_fromat: dag\n  \nlimits: {max_steps: 0}\n"

func broken(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spec.yaml")
	if err := os.WriteFile(path, []byte(brokenSpec), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestE2EYAMLLanguageServer: editors with the schema alone see nothing wrong in
// the specs of the repository, and the slips of a broken one.
func TestE2EYAMLLanguageServer(t *testing.T) {
	schema := filepath.Join(t.TempDir(), "pex.schema.json")
	text, err := exec.CommandContext(t.Context(), e2e.Built(t, "cmd/pexctl"), "schema").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(schema, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, pattern := range []string{"../../specs/*/spec.yaml", "../../specs/*/suite.yaml", "../../specs/*/tests/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			abs, err := filepath.Abs(f)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, abs)
		}
	}
	if len(files) < 10 {
		t.Fatalf("only %d files", len(files))
	}
	bad := broken(t)
	answers := e2e.Editor(t, "file://"+schema, append(files, bad+":6:2"), e2e.YAMLLanguageServer(t)...)
	for _, f := range files {
		if d := answers[f].Diagnostics; len(d) > 0 {
			t.Errorf("%s: %q", f, d)
		}
	}
	if got := answers[bad]; len(got.Diagnostics) < 2 || !slices.Contains(got.Completion, "plan_format") {
		t.Errorf("the broken one: %+v", got)
	}
}

// TestE2EEditor: the protocol library of VS Code speaks to pexctl lsp.
func TestE2EEditor(t *testing.T) {
	bad := broken(t)
	good, err := filepath.Abs("../../specs/hello/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	answers := e2e.Editor(t, "-", []string{good, bad + ":6:2"}, e2e.Built(t, "cmd/pexctl"), "lsp")
	if d := answers[good].Diagnostics; len(d) > 0 {
		t.Errorf("%s: %q", good, d)
	}
	if got := answers[bad]; len(got.Diagnostics) != 2 || !slices.Contains(got.Completion, "plan_format") {
		t.Errorf("the broken one: %+v", got)
	}
}
