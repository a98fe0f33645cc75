package dsl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/analysis"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/lockfile"
)

// unpack writes the files of an archive and parses the options in its comment.
func unpack(t *testing.T, a *goldentest.Archive) dsl.Options {
	t.Helper()
	t.Chdir(t.TempDir())
	a.Extract(t, ".")
	for _, out := range []string{"diagnostics", "program"} {
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
	o := dsl.Options{Catalog: catalog, Checks: checks, Pins: lockfile.Read}
	for line := range strings.Lines(a.Comment()) {
		if s, ok := strings.CutPrefix(line, "set: "); ok {
			o.Set = append(o.Set, strings.TrimSpace(s))
		}
		if s, ok := strings.CutPrefix(line, "env: "); ok {
			o.Environ = append(o.Environ, strings.TrimSpace(s))
		}
		if line == "prices: known\n" {
			o.Prices = pricing.Known()
		}
	}
	return o
}

// directive returns the value of a line "name: value" in an archive's comment.
func directive(a *goldentest.Archive, name string) string {
	for line := range strings.Lines(a.Comment()) {
		if s, ok := strings.CutPrefix(line, name+": "); ok {
			return strings.TrimSpace(s)
		}
	}
	return ""
}

func TestBrokenSpecs(t *testing.T) {
	goldentest.Each(t, "../testdata/vet/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		home, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		o := unpack(t, a)
		o.Analyzers = analysis.All()
		var found diag.List
		if name := directive(a, "vet"); name != "" {
			_, found = dsl.Vet(name, o)
		} else {
			_, found = dsl.Load("spec.yaml", o)
		}
		if len(found) == 0 {
			t.Fatal("nothing is wrong with it")
		}
		t.Chdir(home)
		a.Want(t, "diagnostics", found.String())
	})
}

func TestEveryCodeHasACase(t *testing.T) {
	files, err := filepath.Glob("../testdata/vet/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		_, found, _ := strings.Cut(string(b), "-- diagnostics --")
		all.WriteString(found)
	}
	for _, m := range diag.Codes() {
		if m.Code == diag.CostAboveLimit || m.Code == diag.UnsetKey {
			continue // only vet --max-cost and run report them: testdata/script/vet-cost.txtar, keys.txtar
		}
		if m.Code == diag.NeedsHost || m.Code == diag.SharedSession {
			continue // only with a driver: testdata/mistakes/temporal-local-tools.txtar
		}
		if !strings.Contains(all.String(), string(m.Code)) {
			t.Errorf("%s (%s) is in no case of testdata/vet", m.Code, m.Title)
		}
	}
}
