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

// NoSpecError returns the error of a command without a spec. It suggests a spec
// of this folder, or how to create one.
func NoSpecError(command string) error {
	err := failure.Usagef("no spec given")
	if fspath.Exists("spec.yaml") {
		return failure.WithHintf(err, "to use the spec.yaml of this folder: pexctl %s .", command)
	}
	found, _ := filepath.Glob("*.y*ml")
	below, _ := filepath.Glob("*/spec.yaml")
	for _, path := range append(found, below...) {
		if kind, _ := specfs.Kind(path); kind == "Agent" {
			return failure.WithHintf(err, "there is one here: pexctl %s %s", command, fspath.Quote(strings.TrimSuffix(filepath.ToSlash(path), "/spec.yaml")))
		}
	}
	return failure.WithHintf(err, "this folder has none; try a sample with pexctl new %s --run (no API key needed), or create your own with pexctl init", samples.List()[0].Name)
}

// HintMissing adds a hint where the argument is not a file but the name of a sample,
// or the question.
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
		found[i].Hint = "that is a sample; copy it here with pexctl new " + name + " (--run also runs it)"
	case c.Name == "run" && filepath.Ext(name) == "" && strings.ContainsAny(name, " ?"):
		found[i].Hint = "give the spec before the question: pexctl run spec.yaml " + fspath.Quote(name)
	}
	return found
}
