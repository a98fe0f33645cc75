package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	samples "github.com/pexctl/pex/specs"
)

// NoSpecGiven says what a command may be given: a spec of this folder, and
// where there is none, how one comes here.
func NoSpecGiven(command string) error {
	begin := "no spec given: pexctl " + command
	if fspath.Exists("spec.yaml") {
		return failure.Usagef("%s . takes the spec.yaml of this folder", begin)
	}
	found, _ := filepath.Glob("*.y*ml")
	below, _ := filepath.Glob("*/spec.yaml")
	for _, path := range append(found, below...) {
		if kind, _ := specfs.Kind(path); kind == "Agent" {
			return failure.Usagef("%s %s (a folder means its spec.yaml)", begin, fspath.Quote(strings.TrimSuffix(filepath.ToSlash(path), "/spec.yaml")))
		}
	}
	return failure.Usagef("%s spec.yaml, and no spec is here: pexctl new %s --run shows one at work, without a key; pexctl init makes yours", begin, samples.List()[0].Name)
}

// HintMissing adds the way out where the argument names no file, as people begin:
// with a sample's name, or with the question.
func HintMissing(c *ui.Call, found diag.List, name string) diag.List {
	if _, err := os.Stat(specfs.FileOf(name)); !os.IsNotExist(err) {
		return found
	}
	i := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Code == diag.Unreadable && d.File == name && d.Hint == "" })
	if i < 0 {
		return found
	}
	_, isSample := samples.Find(name)
	switch {
	case isSample:
		found[i].Hint = "it is the name of a sample: pexctl new " + name + " copies it here, with --run it runs at once"
	case c.Name == "run" && filepath.Ext(name) == "" && strings.ContainsAny(name, " ?"):
		found[i].Hint = "the spec comes before the question: pexctl run spec.yaml " + fspath.Quote(name)
	}
	return found
}
