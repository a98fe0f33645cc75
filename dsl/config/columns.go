package config

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/dsl/syntax"
)

// Columns are the columns of a dataset, which ${case.x} may name.
type Columns struct {
	Source  string // the dataset, for messages
	Names   []string
	None    bool // there is no dataset
	Partial bool // only some rows were read
}

// Add adds the keys of a row.
func (k *Columns) Add(row *syntax.Node) {
	for _, e := range row.Entries {
		if !slices.Contains(k.Names, e.Key) {
			k.Names = append(k.Names, e.Key)
		}
	}
}

// Lacks reports whether no row has a column.
func (k *Columns) Lacks(name string) bool {
	return k != nil && !k.Partial && !slices.Contains(k.Names, name)
}

func (k *Columns) knowledge(name string) prompt.Knowledge {
	return prompt.Knowledge{Declared: k.Partial || slices.Contains(k.Names, name), Names: k.Names}
}

// schema returns the JSON Schema of a row.
func (k *Columns) schema() any {
	properties := map[string]any{}
	for _, name := range k.Names {
		properties[name] = map[string]any{}
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": k.Partial}
}

// explain completes the diagnostic of a reference to an unknown column.
func (k *Columns) explain(d *diag.Diagnostic) {
	if k.None {
		d.Advice = diag.Advice{Hint: "a test has no dataset; write the value instead"}
		return
	}
	d.Message += ": " + k.Source + " has no such column"
	names := "columns: " + strings.Join(k.Names, ", ")
	if d.Fix.New != "" {
		names = d.Hint + " " + names
	}
	d.Hint = names
}

// warnUnknownColumns warns about columns of a template that none of the rows read
// has.
func (c *Decoder) warnUnknownColumns(v *syntax.Node, names []string) {
	if c.Columns == nil || !c.Columns.Partial {
		return
	}
	for _, full := range names {
		name, ok := strings.CutPrefix(full, "case.")
		known := func(column string) bool {
			return name == column || strings.HasPrefix(name, column+".") || strings.HasPrefix(name, column+"[")
		}
		if !ok || slices.ContainsFunc(c.Columns.Names, known) {
			continue
		}
		at := v.PositionAt(max(strings.Index(v.Text, full), 0))
		c.Report.Warn(diag.UnknownName, at, "no column %s in the first rows of %s", syntax.Quote(name), c.Columns.Source).Advice = diag.Suggest(name, c.Columns.Names)
	}
}
