package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/host"
)

func TestTokensBelongToOneUserAndTenant(t *testing.T) {
	home := filepath.Join(t.TempDir(), ".pex")
	ana, none := host.NewTokenStore(home, "ana"), host.NewTokenStore(home, "")
	if err := ana.Save("mcp-1.json", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	if got, err := ana.Load("mcp-1.json"); err != nil || string(got) != "secret" {
		t.Errorf("loaded %q, %v", got, err)
	}
	if got, err := none.Load("mcp-1.json"); err != nil || got != nil {
		t.Errorf("another tenant loaded %q, %v", got, err)
	}
	files, err := filepath.Glob(filepath.Join(home, homedir.TokensFolder, "*", "mcp-1.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files: %v, %v", files, err)
	}
	for path, want := range map[string]os.FileMode{files[0]: 0o600, filepath.Dir(files[0]): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
	if !fspath.Exists(filepath.Join(home, ".gitignore")) {
		t.Error("the home can get into git")
	}
	if host.NewTokenStore("", "ana") != nil {
		t.Error("without a home there is a vault")
	}
}
