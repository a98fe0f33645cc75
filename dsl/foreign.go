package dsl

import (
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// recordForeign records the tools and LLMs of the program that are defined in foreign
// files, which in a foreign spec are all of them.
func (c *compiler) recordForeign() {
	for i := range c.tools {
		t := &c.tools[i]
		if e := c.doc.Tools.Find(t.Name); e != nil {
			c.recordForeignPart(e.Value, e.Position, specfs.ForeignPart{Path: "tools." + t.Name, Tool: t})
		}
	}
	for i := range c.Specs {
		m := &c.Specs[i]
		if v := c.Entries[m.Name]; v != nil {
			c.recordForeignPart(v, syntax.Position{}, specfs.ForeignPart{Path: "llms." + m.Name, Model: m})
		}
	}
}

// recordForeignPart records one of them if any of its places is foreign, with the first such
// place.
func (c *compiler) recordForeignPart(v *syntax.Node, at syntax.Position, p specfs.ForeignPart) {
	if key := foreignKey(v); key.Source != nil {
		at = key
	}
	if !at.Foreign() {
		return
	}
	p.Source, p.File = v.AppendJSON(nil), at.Source.Name
	f := c.loader.Files.Foreign
	f.Parts = append(f.Parts, p)
}

// foreignKey returns the place of the first key of a mapping, at any depth, that
// is in a foreign file. It returns the zero Position if there is none. In a spec
// that overrides a foreign one, any key counts: options.url below options of the
// spec itself. Schemas do not count, because they start nothing.
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
