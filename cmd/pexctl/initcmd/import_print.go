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

// imported is what came of an import.
type imported struct {
	Dir   string         `json:"dir"`
	Files []string       `json:"files"`
	Notes []convert.Note `json:"notes"`
	Vet   diag.List      `json:"vet"`
}

// tellImport prints what was written on stdout, and the notes, what vet says and
// what to do next on stderr.
func tellImport(c *call, made *imported, wantJSON bool) error {
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
		tellNotes(w, fate.heading, slices.DeleteFunc(slices.Clone(made.Notes), func(n convert.Note) bool { return n.Outcome != fate.is }))
	}
	fmt.Fprint(w, made.Vet.String())
	fmt.Fprintf(w, "%s: %s, %s\n", filepath.Join(made.Dir, "spec.yaml"), ui.Count(made.Vet.Errors(), "error"), ui.Count(made.Vet.Warnings(), "warning"))
	dir := fspath.Quote(made.Dir)
	fmt.Fprintf(w, "\nNext:\n  pexctl vet %s\n", dir)
	if id := firstPrompt(c, made); id != "" {
		fmt.Fprintf(w, "  pexctl render %s --node %s   # the first prompt; calls no model\n", dir, fspath.Quote(id))
	}
	fmt.Fprintf(w, "  pexctl run %s \"your question\"\n", dir)
	return ui.Invalid(made.Vet)
}

// firstPrompt returns the first node of the imported spec that calls a model;
// "" if none does by itself, or the spec does not compile yet.
func firstPrompt(c *call, made *imported) string {
	p, _, found := dsl.Compile(filepath.Join(made.Dir, "spec.yaml"), project.SpecOptions(c.Call))
	if found.Failed() {
		return ""
	}
	return project.PromptedNode(p)
}

// tellNotes prints the notes of one fate: where in the source, and below it what
// became of it. Several in a row with the same text are said once.
func tellNotes(w io.Writer, heading string, notes []convert.Note) {
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
