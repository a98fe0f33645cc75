package dataset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
)

// columns finds ${case.x} in a row, and notes what it does not find.
type columns struct {
	row  map[string]any
	none []string
}

func (c *columns) lookup(ns, name string) (any, bool) {
	if ns != "case" {
		return nil, false
	}
	v, there := c.row[name]
	root, _, dotted := strings.Cut(name, ".")
	switch {
	case there: // a dotted name is looked up as a whole first, and then by its begin
		c.none = slices.DeleteFunc(c.none, func(n string) bool { return strings.HasPrefix(n, name+".") })
	case dotted && c.row[root] != nil:
	default:
		c.none = append(c.none, name)
	}
	return v, there
}

// defaulted says that the author wrote what is to stand there without a value.
func defaulted(v component.Value) bool { return strings.Contains(string(v.JSON), ":-") }

// Referred says which column the parameters of the suite are made of though no
// row has it: a slip of the pen, for which agents would be asked nothing. What
// cannot be read is left to whoever reads the cases.
func (s Source) Referred() error {
	open := map[string]string{} // columns that were not seen yet, and the parameter that wants them
	for _, name := range slices.Sorted(maps.Keys(s.Dataset.Parameters)) {
		var asked columns
		if _ = s.Dataset.Parameters[name].Render(asked.lookup); defaulted(s.Dataset.Parameters[name]) {
			continue
		}
		for _, column := range asked.none {
			open[column] = name
		}
	}
	seen := map[string]bool{}
	for r, err := range s.rows() {
		if len(open) == 0 || err != nil {
			return nil
		}
		for column := range r.values {
			seen[column] = true
		}
		maps.DeleteFunc(open, func(column, _ string) bool {
			root, _, _ := strings.Cut(column, ".")
			return seen[column] || seen[root]
		})
	}
	for _, column := range slices.Sorted(maps.Keys(open)) {
		return fmt.Errorf("dataset.parameters.%s refers to case.%s: no row has this column; there are %s",
			open[column], column, strings.Join(slices.Sorted(maps.Keys(seen)), ", "))
	}
	return nil
}
