package dsl

import (
	"path/filepath"
	"slices"
)

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
	outside.hint += allowHint
	c.loader.refuse(v.place, outside)
}
