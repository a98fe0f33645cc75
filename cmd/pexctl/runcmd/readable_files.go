package runcmd

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/fspath"
)

// warnUnreadable warns about files of --file that no tool of the spec, nor of an
// agent within it, can read. dir is the spec's folder.
func warnUnreadable(c *ui.Call, files []string, p *engine.Program, dir string) {
	if len(files) == 0 {
		return
	}
	r := &fileReaders{}
	if r.add(p, dir); r.any {
		return
	}
	for _, name := range files {
		if !slices.ContainsFunc(r.roots, func(root fileRoot) bool { return isBelow(root.dir, name) }) {
			ui.Logf(c, "warning: no tool can read %s (--file): %s", fspath.Quote(name), r.advice())
		}
	}
}

// fileReaders are the folders that the tools of a program read.
type fileReaders struct {
	roots []fileRoot
	any   bool // a tool may read files anywhere, or reads the given ones
}

type fileRoot struct{ tool, dir string }

func (r *fileReaders) add(p *engine.Program, dir string) {
	for i := range p.Tools {
		t := &p.Tools[i]
		if t.Type == "agent" {
			continue // its tools are included
		}
		reader, reads := t.Config.(tool.FileReader)
		reacher, known := t.Config.(tool.AccessDescriber)
		switch {
		case reads:
			root, given := reader.ReadsFiles()
			if !filepath.IsAbs(root) {
				root = filepath.Join(dir, filepath.FromSlash(root))
			}
			r.roots = append(r.roots, fileRoot{t.Name, root})
			r.any = r.any || given
		case !known || tool.StartsPrograms(reacher.Access()):
			r.any = true
		}
	}
	for _, a := range p.Agents {
		r.add(a, filepath.Dir(filepath.Join(dir, filepath.FromSlash(a.File))))
	}
}

// advice lists the folders that tools read, and how to make the file readable.
func (r *fileReaders) advice() string {
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
