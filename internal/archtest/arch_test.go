package archtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pexctl/pex/internal/archtest"
)

// TestTheHouseKeepsItsRules is the check of this module; the other tests
// prove that it can fail.
func TestTheHouseKeepsItsRules(t *testing.T) {
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
		t.Fatal("no package found: the check looks at nothing")
	}
	findings, err := archtest.Check(table, module)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(findings, archtest.CheckLayout(table, module)...) {
		t.Error(f)
	}
}
