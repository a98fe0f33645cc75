package config

import (
	"regexp"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/text"
)

// Section returns a section of named entries, or nil if it is not written or not
// a mapping.
func (c *Decoder) Section(path string, v *syntax.Node) *syntax.Node {
	switch {
	case v == nil || v.Kind == syntax.Null:
	case v.Kind != syntax.Map:
		d := c.WrongType(v, path, "a mapping with names as keys")
		if v.Kind == syntax.List {
			d.Hint = "write each name as a key: " + path + ": " + asNames(v)
		}
	default:
		return v
	}
	return &syntax.Node{Kind: syntax.Map}
}

// asNames returns a list as the intended mapping: its texts and the keys of its
// mappings.
func asNames(v *syntax.Node) string {
	var names []string
	for _, it := range v.Items {
		switch {
		case it.Kind == syntax.Text && NamePattern().MatchString(it.Text):
			names = append(names, it.Text+": {}")
		case it.Kind == syntax.Map && len(it.Entries) == 1:
			names = append(names, it.Entries[0].Key+": {...}")
		case it.Kind == syntax.Map && syntax.TextOf(it, "name") != "":
			names = append(names, syntax.TextOf(it, "name")+": {...}")
		}
	}
	const most = 3
	if len(names) == 0 {
		names = []string{"name: {...}"}
	} else if len(names) > most {
		names = append(names[:most], "...")
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// CheckName checks the name of an entry.
func (c *Decoder) CheckName(e *syntax.Entry, what string) bool {
	return c.CheckNameBy(e, what, NamePattern(), "a name starts with a letter and contains only letters, digits, _ and -")
}

// CheckNameBy checks the name of an entry by a pattern.
func (c *Decoder) CheckNameBy(e *syntax.Entry, what string, pattern *regexp.Regexp, hint string) bool {
	if pattern.MatchString(e.Key) && len(e.Key) <= MaxName {
		return true
	}
	c.Report.Error(diag.BadName, e.Position, "invalid name %s for %s", syntax.Quote(e.Key), what).Hint = hint
	return false
}

// NamePattern matches the name of an entry.
var NamePattern = text.Regexp(`^[A-Za-z][A-Za-z0-9_-]*$`)

// MaxName is the maximum length of a name.
const MaxName = 64
