package archtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pexctl/pex/internal/archtest"
)

// TestArchitecture checks this module. The other tests verify that the checks can fail.
func TestArchitecture(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at work: left to the runs without -short")
	}
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := archtest.ParseTable(string(page))
	if err != nil {
		t.Fatalf("docs/architecture.md: %v", err)
	}
	module, err := archtest.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(module.Packages) == 0 {
		t.Fatal("no packages found")
	}
	findings, err := archtest.Check(table, module)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(findings, archtest.CheckLayout(table, module)...) {
		t.Error(f)
	}
}
