package dsl

import (
	"bytes"
	"encoding/csv"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
)

// formats are what the endings of dataset files mean.
var formats = map[string]string{".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".yaml": "yaml", ".yml": "yaml"}

// dataset reads where the cases are.
func (b *suiter) dataset() {
	v := b.keys.Dataset
	if v == nil {
		return
	}
	var k datasetKeys
	if v.kind != dict {
		b.c.wrongType(v, "dataset", "a file or a mapping").Hint = "write dataset: cases.jsonl"
		return
	}
	b.c.decode(v, "dataset", &k)
	b.suite.Dataset = Dataset{
		Format: k.Format, ID: k.ID, Group: k.Group, Weight: k.Weight, Tags: k.Tags, Parameters: k.Parameters, Position: v.place.position(),
	}
	file, rows := v.get("file"), v.get("rows")
	switch {
	case (file == nil) == (rows == nil):
		b.report.error(diag.Exclusive, v.place, "the dataset wants file or rows").Hint = "write dataset: cases.jsonl"
		return
	case file != nil && k.File == "": // reported
		return
	case file != nil:
		b.file(v, file, k.File)
	default:
		b.rows(rows, k.Rows)
	}
	b.columnsSaid(v, &k)
	b.inputs(v, k.Parameters != nil)
}

// file finds the dataset's file. Its begin is read for the names of its columns;
// what else is in it is left to whoever runs the suite.
func (b *suiter) file(v, at *value, written string) {
	abs, ok := b.c.below(at, written)
	if !ok {
		return
	}
	d := &b.suite.Dataset
	if d.File = abs; d.Format == "" {
		if d.Format = formats[strings.ToLower(filepath.Ext(written))]; d.Format == "" && v.find("format") == nil {
			b.report.error(diag.MissingKey, at.place, "nothing says what %s holds", written).Hint = "write format: jsonl, csv or yaml"
		}
	}
	const head = 64 << 10
	text, no := b.files.begin(abs, written, head)
	if no != nil {
		b.refuse(at.place, no)
		return
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	switch d.Format {
	case "csv":
		if names, err := csv.NewReader(bytes.NewReader(text)).Read(); err == nil {
			b.c.columns = &columns{names: names}
		}
	case "jsonl":
		b.c.columns = firstColumns(text)
	}
}

// firstColumns are the keys of the first rows of JSON Lines: others may have
// more. nil = there are no rows to look at.
func firstColumns(text []byte) *columns {
	out := &columns{some: true}
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		row, err := fromJSON(&source{text: line})
		if err != nil || row.kind != dict {
			break // cut off, or a mistake that whoever reads it reports
		}
		out.add(row)
	}
	if len(out.names) == 0 {
		return nil
	}
	return out
}

// rows reads the cases that stand in the suite itself.
func (b *suiter) rows(v *value, rows []*value) {
	known := &columns{}
	for i, row := range rows {
		if row.kind != dict {
			b.c.wrongType(row, "dataset.rows["+itoa(i)+"]", "a mapping of columns").Hint = "write {id: a, question: ...}"
			continue
		}
		known.add(row)
		b.c.rounded(row, "dataset.rows["+itoa(i)+"]", diag.WrongType)
		plain, _ := engine.PlainJSON(row.appendJSON(nil)).(map[string]any)
		d := &b.suite.Dataset
		line := row.place.line
		if n := len(d.Lines); n > 0 {
			line = max(line, d.Lines[n-1]+1)
		}
		d.Rows, d.Lines = append(d.Rows, plain), append(d.Lines, line)
	}
	b.c.columns = known
	b.twice(v)
}

// twice reports rows of one id.
func (b *suiter) twice(rows *value) {
	id := b.suite.Dataset.ID
	if id == "" {
		id = "id"
	}
	seen := map[string]place{}
	for _, row := range rows.items {
		v := row.get(id)
		if v == nil || !v.isScalar() {
			continue
		}
		if first, ok := seen[v.text]; ok {
			b.report.error(diag.DuplicateKey, v.place, "the case %s is already there at %s", quoted(v.text), where(first)).Hint = "give it another " + id
			continue
		}
		seen[v.text] = v.place
	}
}

// columnsSaid checks the columns that the dataset is told to use.
func (b *suiter) columnsSaid(v *value, k *datasetKeys) {
	if b.c.columns == nil || b.c.columns.some {
		return
	}
	names := b.c.columns.names
	for _, said := range [][2]string{{"id", k.ID}, {"group", k.Group}, {"weight", k.Weight}, {"tags", k.Tags}} {
		if name := said[1]; name != "" && !slices.Contains(names, name) {
			b.report.error(diag.UnknownName, v.get(said[0]).place, "the dataset has no column %s", quoted(name)).Advice = diag.Suggest(name, names)
		}
	}
}

// inputs checks what the dataset gives the runs for parameters: those that are
// written, else the columns.
func (b *suiter) inputs(v *value, written bool) {
	section := v.get("parameters")
	for i, s := range b.specs {
		if s == nil {
			continue
		}
		if written && section != nil {
			for _, e := range section.entries {
				b.input(s, e)
			}
		}
		for _, p := range s.program.Parameters {
			missing := written && section.find(p.Name) == nil || !written && b.c.columns.lack(p.Name)
			if missing && p.Required && p.Default == nil {
				b.report.error(diag.MissingKey, v.place, "the dataset gives nothing for the parameter %s of %s, which is required", p.Name, b.files.name(s.File)+ofVariant(b.suite.Variants[i].Name)).
					Hint = "write parameters: {" + p.Name + `: "${case.column}"}`
			}
		}
	}
}

func ofVariant(name string) string {
	if name == "" {
		return ""
	}
	return " (variant " + name + ")"
}

// input checks one parameter; what holds a reference is checked when it is
// filled.
func (b *suiter) input(s *Spec, e *entry) {
	if parameter(s.program, e.key) == nil || !refers(e.val) {
		b.c.parameterValue(s, e, "dataset.parameters")
	}
}

// refers says whether a value holds the begin of a reference.
func refers(v *value) bool {
	return strings.Contains(v.text, "${") || strings.Contains(v.text, "$<") || slices.ContainsFunc(v.items, refers) ||
		slices.ContainsFunc(v.entries, func(e *entry) bool { return refers(e.val) })
}
