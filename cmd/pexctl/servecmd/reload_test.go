package servecmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
)

const (
	serverHead = "apiVersion: pex/v1\nkind: Server\n"
	tokenFile  = "apiVersion: pex/v1\nkind: Tokens\ntokens: [{name: ci, sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, roles: [run]}]\n"
)

// A reload that ignored a new auth would leave the server open to everyone.
func TestReloadsRejectChangesThatNeedARestart(t *testing.T) {
	const auth = "auth: {tokens: {file: tokens.yaml}}\n"
	for _, tt := range []struct{ before, after, changed string }{
		{"", auth, "auth"},
		{auth, "", "auth"},
		{auth, auth + "tenants: {known: [shared, acme]}\n", "tenants"},
		{auth, auth + "tenants: {header: x-tenant}\n", "tenants"},
		{"", "listen: 127.0.0.1:9000\n", "listen"},
		{"", "limits: {per_tenant: {runs_per_minute: 3}}\n", "limits"},
		{"cors: {origins: [https://chat.example]}\n", "", "cors"},
		{"tls: {cert: tokens.yaml, key: tokens.yaml}\n", "", "tls"},
		{"", "mcp: {wait: 1s}\n", "mcp"},
		{"", "park_after: 1s\ngrace: 1s\n", "park_after, grace"},
	} {
		d := loadedDaemon(t, tt.before)
		writeFile(t, d.setup.file, serverHead+tt.after)
		before := d.setup.config
		if err := d.reload(); err == nil || !strings.HasSuffix(err.Error(), "server.yaml: changes to "+tt.changed+" need a restart") {
			t.Errorf("%q to %q: %v", tt.before, tt.after, err)
		}
		if d.setup.config != before {
			t.Errorf("%q to %q: the configuration changed", tt.before, tt.after)
		}
	}
	d := loadedDaemon(t, auth)
	writeFile(t, d.setup.file, serverHead+"metadata: {name: desk}\n"+"auth: {tokens: {file: others.yaml}}\n")
	writeFile(t, filepath.Join(filepath.Dir(d.setup.file), "others.yaml"), tokenFile)
	next, err := d.setup.again()
	if err != nil {
		t.Fatal(err)
	}
	if changed := needRestart(d.setup.config, next.config); len(changed) > 0 {
		t.Errorf("another token file: %q", changed)
	}
}

// loadedDaemon returns a daemon that has read a server file.
func loadedDaemon(t *testing.T, keys string) *daemon {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "server.yaml")
	writeFile(t, file, serverHead+keys)
	writeFile(t, filepath.Join(dir, "tokens.yaml"), tokenFile)
	s := &setup{file: file, path: file, options: dsl.Options{Root: dir}}
	loaded, err := s.again()
	if err != nil {
		t.Fatal(err)
	}
	return &daemon{setup: loaded}
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
