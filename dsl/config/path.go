package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// rebase makes a path that another file of the spec names, which is relative to
// that file's folder, relative to the folder of the spec.
func (c *Decoder) rebase(v *syntax.Node) {
	if v.Source == nil || !v.Source.IsFile() || v.Text == "" || filepath.IsAbs(v.Text) || strings.HasPrefix(v.Text, "~") || v.Source.Dir() == c.Dir {
		return
	}
	rel, err := filepath.Rel(c.Dir, filepath.Join(v.Source.Dir(), filepath.FromSlash(v.Text)))
	if err == nil {
		v.Text = filepath.ToSlash(rel)
	}
}

// rebaseProgram is rebase for a program that is a path, not a name to look up.
func (c *Decoder) rebaseProgram(v *syntax.Node) {
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
// not be read. Files of a run's stored program are not checked here: the code that
// reads such a file reports what is wrong with it.
func (c *Decoder) filePath(v *syntax.Node) {
	if v.Source == nil || v.Source.Kind == syntax.Resolved {
		return
	}
	abs := v.Text
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(c.Dir, filepath.FromSlash(abs))
	}
	files := c.Files
	_, outside := files.Relative(abs, v.Text)
	for _, dir := range slices.Concat([]string{files.Root}, c.AllowPaths) {
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
			c.Refuse(v.Position, no)
			return
		}
		if !slices.Contains(c.Read, abs) {
			c.Read = append(c.Read, abs)
		}
		return
	}
	outside.Hint += specfs.AllowHint
	c.Refuse(v.Position, outside)
}

// SpecFile is the absolute path of a spec that a value names; "" = reported.
func (c *Decoder) SpecFile(v *syntax.Node, written string) string {
	return c.File(v, written, specfs.SpecFile)
}

// File is the absolute path of a file that a value names and that is there;
// inside is what a folder stands for. "" = reported.
func (c *Decoder) File(v *syntax.Node, written, inside string) string {
	abs, ok := c.Path(v, written)
	if !ok {
		return ""
	}
	abs = specfs.InFolder(abs, inside)
	if _, no := c.Files.Head(specfs.FileOf(abs), specfs.FileOf(written), 1); no != nil {
		c.Refuse(v.Position, no)
		return ""
	}
	return abs
}

// Path is the absolute path that a value names. It need not exist, but must
// not leave the root.
func (c *Decoder) Path(v *syntax.Node, written string) (string, bool) {
	abs, no := c.Files.Resolve(v.Source, written)
	if no == nil {
		_, no = c.Files.Relative(abs, written)
	}
	if no != nil {
		c.Refuse(v.Position, no)
		return "", false
	}
	return abs, true
}
