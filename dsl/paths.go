package dsl

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// rebase makes a path that another file of the spec names, which is relative to
// that file's folder, relative to the folder of the spec.
func (c *compiler) rebase(v *syntax.Node) {
	if v.Source == nil || !v.Source.IsFile() || v.Text == "" || filepath.IsAbs(v.Text) || strings.HasPrefix(v.Text, "~") || v.Source.Dir() == c.dir {
		return
	}
	rel, err := filepath.Rel(c.dir, filepath.Join(v.Source.Dir(), filepath.FromSlash(v.Text)))
	if err == nil {
		v.Text = filepath.ToSlash(rel)
	}
}

// rebaseProgram is rebase for a program that is a path, not a name to look up.
func (c *compiler) rebaseProgram(v *syntax.Node) {
	if v.Kind == syntax.List && len(v.Items) > 0 {
		v = v.Items[0]
	}
	if v.Kind != syntax.Text || !strings.HasPrefix(v.Text, "./") && !strings.HasPrefix(v.Text, "../") {
		return
	}
	if c.rebase(v); !strings.HasPrefix(v.Text, "../") && !strings.HasPrefix(v.Text, "./") {
		v.Text = "./" + v.Text
	}
}

// filePath reports a path of a Config to a file that is not there, or that may
// not be read. In the program that a run kept nothing is looked at: whoever
// reads the file says what is wrong with it then.
func (c *compiler) filePath(v *syntax.Node) {
	if v.Source == nil || v.Source.Kind == syntax.Resolved {
		return
	}
	abs := v.Text
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(c.dir, filepath.FromSlash(abs))
	}
	files := c.loader.files
	_, outside := files.Relative(abs, v.Text)
	for _, dir := range slices.Concat([]string{files.Root}, c.loader.options.AllowPaths) {
		dir, err := filepath.Abs(dir)
		if err != nil {
			continue
		}
		open := *files
		open.Root = dir
		if _, no := open.Relative(abs, v.Text); no != nil {
			continue
		}
		if _, no := open.Head(abs, v.Text, 1); no != nil {
			c.loader.refuse(v.Position, no)
			return
		}
		if !slices.Contains(c.loader.read, abs) {
			c.loader.read = append(c.loader.read, abs)
		}
		return
	}
	outside.Hint += specfs.AllowHint
	c.loader.refuse(v.Position, outside)
}
