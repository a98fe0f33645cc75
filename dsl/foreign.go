package dsl

import (
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// foreign notes the tools and llms of the program that are in foreign files, as
// all of a foreign spec do.
func (c *compiler) foreign() {
	for i := range c.tools {
		t := &c.tools[i]
		if e := c.doc.Tools.Find(t.Name); e != nil {
			c.part(e.Value, e.Position, specfs.ForeignPart{Path: "tools." + t.Name, Tool: t})
		}
	}
	for i := range c.Specs {
		m := &c.Specs[i]
		if v := c.Entries[m.Name]; v != nil {
			c.part(v, syntax.Position{}, specfs.ForeignPart{Path: "llms." + m.Name, Model: m})
		}
	}
}

// part notes one of them if it is foreign, of the first of its places that is.
func (c *compiler) part(v *syntax.Node, at syntax.Position, p specfs.ForeignPart) {
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

// foreignKey is the place of the first key of a mapping, or of one within it, that
// is in a foreign file; nowhere = none does. Where a spec lies over a foreign
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
