//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pexctl/pex/internal/acceptance"
)

func TestContract(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../testdata/contract/*/case.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no contract case found (%v)", err)
	}
	for _, f := range files {
		c, err := acceptance.Load(filepath.Dir(f))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			bad, err := acceptance.Run(c, acceptance.Command{Path: self, Env: append(pexctlEnv(), "CI=")}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range bad {
				t.Error(b)
			}
		})
	}
}
