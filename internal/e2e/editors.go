//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// EditorAnswer is what an editor received for a file.
type EditorAnswer struct {
	Diagnostics []string
	Completion  []string // labels, if a position was given
}

// Editor opens files ("path", or "path:line:character" to request completion there) with the protocol library of VS
// Code, using a language server. schema is the JSON Schema that the server uses for YAML files; "-" = none.
func Editor(t testing.TB, schema string, files []string, server ...string) map[string]EditorAnswer {
	t.Helper()
	script, err := filepath.Abs("testdata/editor.mjs")
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{script, editorFile(t), schema}, files...)
	args = append(append(args, "--"), server...)
	c := exec.CommandContext(t.Context(), editorFile(t, "node", "bin", "node"), args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("editor: %v\n%s", err, out)
	}
	var answers map[string]EditorAnswer
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatalf("editor: %v\n%s", err, out)
	}
	return answers
}

// YAMLLanguageServer is the command of yaml-language-server.
func YAMLLanguageServer(t testing.TB) []string {
	t.Helper()
	return []string{editorFile(t, "node", "bin", "node"), editorFile(t, "yaml-language-server", "bin", "yaml-language-server"), "--stdio"}
}

func editorFile(t testing.TB, parts ...string) string {
	t.Helper()
	file := cached(t, append([]string{"editors", "node_modules"}, parts...)...)
	if _, err := os.Stat(file); err != nil {
		t.Fatal("no editors: internal/e2e/setup.sh editors gets them")
	}
	return file
}
