package runfile

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/fspath"
)

// Readers are the folders that the tools of a program read.
type Readers struct {
	roots []root
	any   bool // a tool may read files anywhere, or reads the given ones
}

type root struct{ tool, dir string }

// ReadersOf returns the folders that the tools of a program, and of the agents within it,
// read. dir is the spec's folder.
func ReadersOf(p *engine.Program, dir string) *Readers {
	r := &Readers{}
	r.add(p, dir)
	return r
}

func (r *Readers) add(p *engine.Program, dir string) {
	for i := range p.Tools {
		t := &p.Tools[i]
		if t.Type == "agent" {
			continue // its tools are included
		}
		reader, reads := t.Config.(tool.FileReader)
		reacher, known := t.Config.(tool.AccessDescriber)
		switch {
		case reads:
			dirOf, given := reader.ReadsFiles()
			if !filepath.IsAbs(dirOf) {
				dirOf = filepath.Join(dir, filepath.FromSlash(dirOf))
			}
			r.roots = append(r.roots, root{t.Name, dirOf})
			r.any = r.any || given
		case !known || tool.StartsPrograms(reacher.Access()):
			r.any = true
		}
	}
	for _, a := range p.Agents {
		r.add(a, filepath.Dir(filepath.Join(dir, filepath.FromSlash(a.File))))
	}
}

// Given reports whether a tool may read any file that is given to a run.
func (r *Readers) Given() bool { return r.any }

// Read reports whether a tool may read the file at a path.
func (r *Readers) Read(path string) bool {
	return r.any || slices.ContainsFunc(r.roots, func(root root) bool { return isBelow(root.dir, path) })
}

// Advice lists the folders that tools read, and how to make a file readable.
func (r *Readers) Advice() string {
	if len(r.roots) == 0 {
		return "no tool reads files; add read_file: {} to tools"
	}
	named := make([]string, len(r.roots))
	for i, root := range r.roots {
		named[i] = fmt.Sprintf("%s reads files in %s", root.tool, fspath.Quote(fspath.Relative(root.dir)))
	}
	return strings.Join(named, ", ") + "; move the file there, or add read_file: {} to tools"
}

// isBelow reports whether a file is below a folder, after following existing
// links.
func isBelow(dir, file string) bool {
	resolved := func(path string) string {
		abs, err := filepath.Abs(path)
		if err != nil {
			return path
		}
		real, _ := filepath.EvalSymlinks(abs)
		return cmp.Or(real, abs)
	}
	return fspath.Within(resolved(dir), resolved(file))
}
