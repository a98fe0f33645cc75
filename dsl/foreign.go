package dsl

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
)

// Foreign is what of a spec comes from elsewhere: files outside of the project
// root, those that they lead to, and what is defined there.
type Foreign struct {
	Files []ForeignFile // as they were read, in that order
	Parts []ForeignPart // in the order in which they were compiled
}

// ForeignFile is a file outside of the project, or one that such a file names.
type ForeignFile struct {
	Name   string // as diagnostics name it
	Path   string // relative to the project root, with slashes: the same on every machine
	Digest string // "sha256:" and hex of its bytes, as they were read
}

// ForeignPart is a tool or llm that is defined in a foreign file. One of Tool
// and Model is set.
type ForeignPart struct {
	File   string // as diagnostics name it
	Path   string // tools.NAME or llms.NAME
	Tool   *engine.ToolSpec
	Model  *engine.ModelSpec
	Source json.RawMessage // the entry as resolved, its references as written
}

// Digest is one for the files, "sha256:" and hex: where a byte of one differs,
// its name, or which there are, it is another. It is "" without files.
func (f *Foreign) Digest() string {
	if len(f.Files) == 0 {
		return ""
	}
	lines := make([]string, len(f.Files))
	for i, file := range f.Files {
		lines[i] = file.Digest + " " + file.Path + "\n"
	}
	slices.Sort(lines)
	return digest([]byte(strings.Join(lines, "")))
}

// add notes a file; one that was read twice is noted twice where it changed in
// between.
func (f *Foreign) add(path string, src *syntax.Source) {
	file := ForeignFile{Name: src.Name, Path: path, Digest: digest(src.Text)}
	if !slices.Contains(f.Files, file) {
		f.Files = append(f.Files, file)
	}
}

// foreign notes the tools and llms of the program that stand in foreign files, as
// all of a foreign spec do.
func (c *compiler) foreign() {
	for i := range c.tools {
		t := &c.tools[i]
		if e := c.doc.Tools.Find(t.Name); e != nil {
			c.part(e.Value, e.Position, ForeignPart{Path: "tools." + t.Name, Tool: t})
		}
	}
	for i := range c.models {
		m := &c.models[i]
		if v := c.llmValues[m.Name]; v != nil {
			c.part(v, syntax.Position{}, ForeignPart{Path: "llms." + m.Name, Model: m})
		}
	}
}

// part notes one of them if it is foreign, of the first of its places that is.
func (c *compiler) part(v *syntax.Node, at syntax.Position, p ForeignPart) {
	if key := foreignKey(v); key.Source != nil {
		at = key
	}
	if !at.Foreign() {
		return
	}
	p.Source, p.File = v.AppendJSON(nil), at.Source.Name
	f := c.loader.files.foreign
	f.Parts = append(f.Parts, p)
}

// foreignKey is the place of the first key of a mapping, or of one within it, that
// stands in a foreign file; nowhere = none does. Where a spec lies over a foreign
// one that is any of them: options.url below options of our own. Schemas do not
// count: one of others starts nothing.
func foreignKey(v *syntax.Node) syntax.Position {
	for _, e := range v.Entries {
		switch at := foreignKey(e.Value); {
		case e.Position.Foreign():
			return e.Position
		case at.Source != nil && !strings.HasSuffix(e.Key, "schema"):
			return at
		}
	}
	return syntax.Position{}
}

// allowHint ends the hint of a refusal that --allow-path would lift.
const allowHint = "; --allow-path opens a folder outside of it"

// around is the files of the folder that a path lies in: the root, or one that
// was opened besides, which is outside; nil = neither.
func (f *files) around(abs string) (in *files, outside bool) {
	if _, no := f.confine(abs, abs); no == nil {
		return f, false
	}
	for _, dir := range f.opened {
		open := *f
		open.root = dir
		if _, no := open.confine(abs, abs); no == nil {
			return &open, true
		}
	}
	return nil, false
}

// relative is a path as it is from the root.
func (f *files) relative(abs string) string {
	if rel, err := filepath.Rel(f.root, abs); err == nil {
		abs = rel
	}
	return filepath.ToSlash(abs)
}

// real is folders by their absolute paths without links; those that there are not
// are left out.
func real(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		if abs, err := filepath.Abs(dir); err == nil {
			if abs, err = filepath.EvalSymlinks(abs); err == nil {
				out = append(out, abs)
			}
		}
	}
	return out
}
