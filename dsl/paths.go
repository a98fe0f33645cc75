package dsl

import (
	"path/filepath"
	"slices"
	"strings"
)

// rebase makes a path that another file of the spec names, which is relative to
// that file's folder, relative to the folder of the spec.
func (c *compiler) rebase(v *value) {
	if v.src == nil || !v.src.isFile() || v.text == "" || filepath.IsAbs(v.text) || strings.HasPrefix(v.text, "~") || v.src.dir() == c.dir {
		return
	}
	rel, err := filepath.Rel(c.dir, filepath.Join(v.src.dir(), filepath.FromSlash(v.text)))
	if err == nil {
		v.text = filepath.ToSlash(rel)
	}
}

// rebaseProgram is rebase for a program that is a path, not a name to look up.
func (c *compiler) rebaseProgram(v *value) {
	if v.kind == list && len(v.items) > 0 {
		v = v.items[0]
	}
	if v.kind != text || !strings.HasPrefix(v.text, "./") && !strings.HasPrefix(v.text, "../") {
		return
	}
	if c.rebase(v); !strings.HasPrefix(v.text, "../") && !strings.HasPrefix(v.text, "./") {
		v.text = "./" + v.text
	}
}

// filePath reports a path of a Config to a file that is not there, or that may
// not be read. In the program that a run kept nothing is looked at: whoever
// reads the file says what is wrong with it then.
func (c *compiler) filePath(v *value) {
	if v.src == nil || v.src.kind == resolved {
		return
	}
	abs := v.text
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(c.dir, filepath.FromSlash(abs))
	}
	files := c.loader.files
	_, outside := files.confine(abs, v.text)
	for _, dir := range slices.Concat([]string{files.root}, c.loader.options.AllowPaths) {
		dir, err := filepath.Abs(dir)
		if err != nil {
			continue
		}
		open := *files
		open.root = dir
		if _, no := open.confine(abs, v.text); no != nil {
			continue
		}
		if _, no := open.begin(abs, v.text, 1); no != nil {
			c.loader.refuse(v.place, no)
			return
		}
		if !slices.Contains(c.loader.read, abs) {
			c.loader.read = append(c.loader.read, abs)
		}
		return
	}
	outside.Hint += allowHint
	c.loader.refuse(v.place, outside)
}
