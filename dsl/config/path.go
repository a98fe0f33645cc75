package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// rebase makes a path in another file of the spec, which is relative to that
// file's folder, relative to the spec's folder.
func (c *Decoder) rebase(v *syntax.Node) {
	if v.Source == nil || !v.Source.IsFile() || v.Text == "" || filepath.IsAbs(v.Text) || strings.HasPrefix(v.Text, "~") || v.Source.Dir() == c.Dir {
		return
	}
	rel, err := filepath.Rel(c.Dir, filepath.Join(v.Source.Dir(), filepath.FromSlash(v.Text)))
	if err == nil {
		v.Text = filepath.ToSlash(rel)
	}
}

// rebaseProgram is like rebase, for a program that is a path and not a name to
// look up.
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

// filePath reports a path of a Config to a file that does not exist or may not be
// read. It does not check the stored program of a run: the code that reads the
// file reports the error.
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
			c.ReportRefusal(v.Position, no)
			return
		}
		if !slices.Contains(c.ReadPaths, abs) {
			c.ReadPaths = append(c.ReadPaths, abs)
		}
		return
	}
	outside.Hint += specfs.AllowHint
	c.ReportRefusal(v.Position, outside)
}

// SpecFile returns the absolute path of a spec that a value names, or "" after
// reporting an error.
func (c *Decoder) SpecFile(v *syntax.Node, written string) string {
	return c.File(v, written, specfs.SpecFile)
}

// File returns the absolute path of an existing file that a value names, or ""
// after reporting an error. If the path is a folder, File uses the file named
// inside in it.
func (c *Decoder) File(v *syntax.Node, written, inside string) string {
	abs, ok := c.Path(v, written)
	if !ok {
		return ""
	}
	abs = specfs.InFolder(abs, inside)
	if _, no := c.Files.Head(specfs.FileOf(abs), specfs.FileOf(written), 1); no != nil {
		c.ReportRefusal(v.Position, no)
		return ""
	}
	return abs
}

// Path returns the absolute path that a value names. The path need not exist, but
// must be within the root.
func (c *Decoder) Path(v *syntax.Node, written string) (string, bool) {
	abs, no := c.Files.Resolve(v.Source, written)
	if no == nil {
		_, no = c.Files.Relative(abs, written)
	}
	if no != nil {
		c.ReportRefusal(v.Position, no)
		return "", false
	}
	return abs, true
}
