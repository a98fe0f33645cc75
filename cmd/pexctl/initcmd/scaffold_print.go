package initcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/scaffold"
	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/app/failure"
)

// createdProject is the output of init and new.
type createdProject struct {
	Name  string        `json:"name"`
	Dir   string        `json:"dir"`
	Files []string      `json:"files"` // relative to the folder
	Next  []nextCommand `json:"next"`
	Live  nextCommand   `json:"live"` // how to run it with a real model
}

// nextCommand is a suggested command.
type nextCommand struct {
	Command string `json:"command"`
	About   string `json:"about"`
}

// writeProject writes the files of a project and reports them.
func writeProject(c *call, p createdProject, files []scaffold.File, wantJSON bool) error {
	if err := scaffold.Write(p.Dir, files, c.force); err != nil {
		return writeError(err)
	}
	for _, f := range files {
		p.Files = append(p.Files, f.Path)
	}
	if wantJSON {
		return ui.PrintJSON(c.Call, p)
	}
	printProject(c, p)
	return nil
}

// printProject lists the files of a new project, and the next commands.
func printProject(c *call, p createdProject) {
	w, pen := ui.Styled(c.Stdout), tty.Pen{Color: ui.UsesColor(c.Stdout)}
	in := ""
	if p.Dir != p.Name {
		in = " in " + ui.Safe(w, p.Dir)
	}
	fmt.Fprintf(w, "%s Created %s%s: %s\n", pen.Ink(tty.Green, "✓"), pen.Ink(tty.Bold, p.Name), in, ui.Count(len(p.Files), "file"))
	for _, line := range topLevel(p.Files) {
		fmt.Fprintln(w, "  "+line)
	}
	fmt.Fprintln(w, "\nNext:")
	wide := 0
	for _, n := range p.Next {
		wide = max(wide, tty.Width(n.Command))
	}
	for _, n := range p.Next {
		fmt.Fprintf(w, "  %s%s  %s\n", ui.Safe(w, n.Command), strings.Repeat(" ", wide-tty.Width(n.Command)), pen.Ink(tty.Dim, n.About))
	}
	fmt.Fprintf(w, "\n%s:\n  %s\n", p.Live.About, ui.Safe(w, p.Live.Command))
}

// writeError separates usage errors from errors of the disk.
func writeError(err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return failure.Infra(fmt.Errorf("nothing was created: %w", err))
	}
	return failure.Usagef("nothing was created: %w", err)
}

// topLevel lists the files of the project's folder by name, and each folder in it with
// the number of its files.
func topLevel(files []string) []string {
	var out []string
	in := map[string]int{}
	for _, f := range files {
		top, _, below := strings.Cut(f, "/")
		if !below {
			out = append(out, f)
			continue
		}
		if in[top]++; in[top] == 1 {
			out = append(out, top+"/")
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return fileRank(a) - fileRank(b) })
	for i, top := range out {
		if n := in[path.Clean(top)]; n > 0 {
			out[i] = fmt.Sprintf("%-14s %s", top, ui.Count(n, "file"))
		}
	}
	return out
}

// fileRank puts files before folders, and hidden files last.
func fileRank(name string) int {
	switch {
	case strings.HasPrefix(name, "."):
		return 2
	case strings.HasSuffix(name, "/"):
		return 1
	}
	return 0
}
