package protect_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/protect"
)

// TestServersAndTokensAreProtected: a model that writes files cannot give itself a token, or open a server.
func TestServersAndTokensAreProtected(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("old.yaml"), []byte("kind: Tokens\ntokens: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := protect.New("", dsl.Options{})
	tests := []struct {
		name, content string
		protected     bool
	}{
		{"server.yaml", "apiVersion: pex/v1\nkind: Server\n", true},
		{"server.yml", "kind: Server\n", true},
		{"new.yaml", `{"kind": "Tokens"}`, true},
		{"old.yaml", "nothing: here\n", true},
		{"notes.yaml", "kind: Note\n", false},
		{"tokens.txt", "kind: Tokens\n", false},
	}
	for _, tt := range tests {
		if err := files.Check(path(tt.name), []byte(tt.content)); (err != nil) != tt.protected {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
