package dataset

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Inputs makes the parameters of a run of p from a case: those that the suite
// writes, else the columns that are named as a parameter of p. Text for a
// parameter that is declared as something else is read as YAML ("3" is a
// number); an empty cell of CSV is no value for it.
func (s Source) Inputs(p *engine.Program) func(Case) (map[string]any, error) {
	in := inputs{program: p, dataset: s.Dataset, text: s.Dataset.Format == "csv", isText: map[string]bool{}}
	for i := range p.Parameters {
		var schema struct {
			Type any `json:"type"`
		}
		_ = json.Unmarshal(p.Parameters[i].Schema, &schema) // the compiler made it
		in.isText[p.Parameters[i].Name] = schema.Type == "string"
	}
	return in.of
}

type inputs struct {
	program *engine.Program
	dataset *suitespec.Dataset
	text    bool            // values of columns are text that may stand for something else
	isText  map[string]bool // parameters, and whether they are declared as text
}

func (in *inputs) of(c Case) (map[string]any, error) {
	var flags []string
	values := map[string]any{}
	err := in.given(c, func(name string, v any) {
		text, isText := v.(string)
		switch {
		case !in.text || !isText:
			values[name] = v
		case text != "" || in.isText[name]:
			flags = append(flags, name+"="+text)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("case %s: %w", c.ID, err)
	}
	if err := in.lacking(c, values, flags); err != nil {
		return nil, err
	}
	var file []byte
	if len(values) > 0 {
		b, err := json.Marshal(values)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", c.ID, err)
		}
		file = b
	}
	params, err := dsl.Inputs(in.program, "", flags, file)
	if err != nil {
		return nil, fmt.Errorf("case %s: %w", c.ID, err)
	}
	return params, nil
}

// lacking says what a run cannot do without and the case does not give.
func (in *inputs) lacking(c Case, values map[string]any, flags []string) error {
	for name := range in.dataset.Parameters {
		if _, declared := in.isText[name]; !declared {
			return nil // that is what is wrong
		}
	}
	for i := range in.program.Parameters {
		p := &in.program.Parameters[i]
		asFlag := slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, p.Name+"=") })
		if !p.Required || p.Default != nil || values[p.Name] != nil || asFlag {
			continue
		}
		_, written := in.dataset.Parameters[p.Name]
		_, there := c.Row[p.Name]
		why := fmt.Sprintf("the row has no column %s, and dataset.parameters names none", p.Name)
		switch {
		case written:
			why = fmt.Sprintf("dataset.parameters.%s gives nothing for this row", p.Name)
		case in.dataset.Parameters != nil:
			why = fmt.Sprintf("dataset.parameters does not name it: add %s: ${case.COLUMN}", p.Name)
		case there:
			why = fmt.Sprintf("column %s is empty", p.Name)
		}
		return fmt.Errorf("case %s: parameter %s is required: %s", c.ID, p.Name, why)
	}
	return nil
}

// given goes over what the suite, or the row, gives for the parameters. A
// reference that is all of a value may be to a column that the row lacks: there
// is no value then. A text with a hole in it is an error.
func (in *inputs) given(c Case, each func(name string, v any)) (err error) {
	defer component.CatchTooLarge(&err)
	if written := in.dataset.Parameters; written != nil {
		for _, name := range slices.Sorted(maps.Keys(written)) {
			asked := columns{row: c.Row}
			v := written[name].Render(asked.lookup)
			if _, text := v.(string); text && len(asked.none) > 0 && !defaulted(written[name]) {
				return fmt.Errorf("parameter %s: the row has no column %s", name, asked.none[0])
			}
			if v != nil || len(asked.none) == 0 {
				each(name, v)
			}
		}
		return nil
	}
	for i := range in.program.Parameters {
		name := in.program.Parameters[i].Name
		if v, there := c.Row[name]; there {
			each(name, v)
		}
	}
	return nil
}

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
