package initcmd

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/internal/app/fspath"
)

// importResult is the result of an import.
type importResult struct {
	Dir   string         `json:"dir"`
	Files []string       `json:"files"`
	Notes []convert.Note `json:"notes"`
	Vet   diag.List      `json:"vet"`
}

// printImport prints the written files on stdout, and the notes, diagnostics and
// next steps on stderr.
func printImport(c *call, made *importResult, wantJSON bool) error {
	if made.Notes == nil {
		made.Notes = []convert.Note{}
	}
	if wantJSON {
		if err := ui.PrintJSON(c.Call, made); err != nil {
			return err
		}
		return ui.Invalid(made.Vet)
	}
	for _, path := range made.Files {
		fmt.Fprintln(c.Stdout, path)
	}
	w := c.Stderr
	for _, fate := range []struct {
		is      convert.Outcome
		heading string
	}{
		{convert.Todo, "To do by hand"},
		{convert.Changed, "Changed"},
		{convert.Dropped, "Left out"},
	} {
		printNotes(w, fate.heading, slices.DeleteFunc(slices.Clone(made.Notes), func(n convert.Note) bool { return n.Outcome != fate.is }))
	}
	fmt.Fprint(w, made.Vet.String())
	fmt.Fprintf(w, "%s: %s, %s\n", filepath.Join(made.Dir, "spec.yaml"), ui.Count(made.Vet.Errors(), "error"), ui.Count(made.Vet.Warnings(), "warning"))
	printNext(c, made)
	return ui.Invalid(made.Vet)
}

// printNext prints the next commands that make sense for the spec, if it
// compiles.
func printNext(c *call, made *importResult) {
	w, dir := c.Stderr, fspath.Quote(made.Dir)
	fmt.Fprintf(w, "\nNext:\n  pexctl vet %s\n", dir)
	question := ` "your question"`
	if p, _, found := dsl.Compile(filepath.Join(made.Dir, "spec.yaml"), project.SpecOptions(c.Call)); !found.Failed() {
		if id := project.PromptedNode(p); id != "" {
			fmt.Fprintf(w, "  pexctl render %s --node %s   # the first prompt; calls no model\n", dir, fspath.Quote(id))
		}
		for _, parameter := range p.Parameters {
			switch {
			case parameter.Name == "question" && !parameter.Required:
				question = ""
			case parameter.Name != "question" && parameter.Required:
				question += " -p " + parameter.Name + "=VALUE"
			}
		}
	}
	fmt.Fprintf(w, "  pexctl run %s%s\n", dir, question)
	for _, file := range made.Files {
		if filepath.Base(file) == "suite.yaml" {
			fmt.Fprintf(w, "  pexctl eval %s\n", fspath.Quote(file))
		}
	}
}

// printNotes prints the notes with one outcome: the place in the source, and the
// text below it. Consecutive notes with the same text are merged.
func printNotes(w io.Writer, heading string, notes []convert.Note) {
	if len(notes) == 0 {
		return
	}
	fmt.Fprintf(w, "%s (%d):\n", heading, len(notes))
	var said []string
	for i, n := range notes {
		said = append(said, n.Path)
		if i+1 < len(notes) && notes[i+1].What == n.What && notes[i+1].File == n.File {
			continue
		}
		fmt.Fprintf(w, "  %s: %s\n", tty.Flat(n.File), tty.Flat(strings.Join(said, ", ")))
		fmt.Fprintf(w, "      %s\n", tty.Flat(n.What))
		said = nil
	}
	fmt.Fprintln(w)
}
