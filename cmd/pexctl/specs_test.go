package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/golden"
)

// TestEverySpecRunsToItsAnswer runs each folder of specs/ as its README says:
// scripted model, real tools, the answer as recorded. A script answers only
// what the tools really gave, so a tool that changes shows here.
func TestEverySpecRunsToItsAnswer(t *testing.T) {
	specs, err := filepath.Glob("../../specs/*/spec.yaml")
	if err != nil || len(specs) < 4 {
		t.Fatalf("specs: %v %v", specs, err)
	}
	for _, spec := range specs {
		name := filepath.Base(filepath.Dir(spec))
		t.Run(name, func(t *testing.T) {
			var out, progress bytes.Buffer
			code := run([]string{"run", filepath.Dir(spec), "--home", t.TempDir()}, streams{strings.NewReader(""), &out, &progress})
			if code != 0 {
				t.Fatalf("exit %d\n%s", code, progress.String())
			}
			golden.File(t, "specs/"+name+".txt", out.String())
		})
		t.Run(name+" is clean", func(t *testing.T) {
			var out, found bytes.Buffer
			if code := run([]string{"vet", filepath.Dir(spec)}, streams{strings.NewReader(""), &out, &found}); code != 0 || strings.Contains(found.String(), "warning PEX") {
				t.Errorf("exit %d\n%s", code, found.String())
			}
		})
	}
}
