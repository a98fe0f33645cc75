package suitespec

import (
	"bytes"
	"encoding/csv"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// formats maps extensions of dataset files to formats.
var formats = map[string]string{".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".yaml": "yaml", ".yml": "yaml"}

// dataset decodes where the cases are.
func (b *compiler) dataset() {
	v := b.keys.Dataset
	if v == nil {
		return
	}
	var k language.DatasetKeys
	if v.Kind != syntax.Map {
		b.c.WrongType(v, "dataset", "a path or a mapping").Hint = "write dataset: cases.jsonl"
		return
	}
	b.c.Decode(v, "dataset", &k)
	b.suite.Dataset = Dataset{
		Format: k.Format, ID: k.ID, Group: k.Group, Weight: k.Weight, Tags: k.Tags, Parameters: k.Parameters, Position: testspec.PositionOf(v.Position),
	}
	file, rows := v.Get("file"), v.Get("rows")
	switch {
	case (file == nil) == (rows == nil):
		b.Report.Error(diag.Exclusive, v.Position, "dataset must have exactly one of file and rows").Hint = "write dataset: cases.jsonl"
		return
	case file != nil && k.File == "": // already reported
		return
	case file != nil:
		b.file(v, file, k.File)
	default:
		b.rows(rows, k.Rows)
	}
	b.checkColumns(v, &k)
	b.inputs(v, k.Parameters != nil)
}

// file finds the dataset's file and reads its start for the names of its columns.
// The suite's runner reads the rest.
func (b *compiler) file(v, at *syntax.Node, written string) {
	abs, ok := b.c.Path(at, written)
	if !ok {
		return
	}
	d := &b.suite.Dataset
	if d.File = abs; d.Format == "" {
		if d.Format = formats[strings.ToLower(filepath.Ext(written))]; d.Format == "" && v.Find("format") == nil {
			b.Report.Error(diag.MissingKey, at.Position, "the format of %s is unknown", written).Hint = "write format: jsonl, csv or yaml"
		}
	}
	const head = 64 << 10
	text, no := b.Files.Head(abs, written, head)
	if no != nil {
		b.ReportRefusal(at.Position, no)
		return
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	switch d.Format {
	case "csv":
		if names, err := csv.NewReader(bytes.NewReader(text)).Read(); err == nil {
			b.c.Columns = &config.Columns{Source: written, Names: names}
		}
	case "jsonl":
		b.c.Columns = firstColumns(written, text)
	}
}

// firstColumns returns the keys of the first rows of JSON Lines; later rows may
// have more. It returns nil if there are no rows.
func firstColumns(file string, text []byte) *config.Columns {
	out := &config.Columns{Source: file, Partial: true}
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		row, err := syntax.ParseJSON(&syntax.Source{Text: line})
		if err != nil || row.Kind != syntax.Map {
			break // truncated, or a mistake that the runner reports
		}
		out.Add(row)
	}
	if len(out.Names) == 0 {
		return nil
	}
	return out
}

// rows decodes the cases in the suite itself.
func (b *compiler) rows(v *syntax.Node, rows []*syntax.Node) {
	known := &config.Columns{Source: "the dataset"}
	for i, row := range rows {
		if row.Kind != syntax.Map {
			b.c.WrongType(row, "dataset.rows["+strconv.Itoa(i)+"]", "a mapping of columns").Hint = "write {id: a, question: ...}"
			continue
		}
		known.Add(row)
		b.c.RejectRounded(row, "dataset.rows["+strconv.Itoa(i)+"]", diag.WrongType)
		plain, _ := jsonvalue.Plain(row.AppendJSON(nil)).(map[string]any)
		d := &b.suite.Dataset
		line := row.Position.Line
		if n := len(d.Lines); n > 0 {
			line = max(line, d.Lines[n-1]+1)
		}
		d.Rows, d.Lines = append(d.Rows, plain), append(d.Lines, line)
	}
	b.c.Columns = known
	b.checkDuplicates(v)
}

// checkDuplicates reports rows with the same id.
func (b *compiler) checkDuplicates(rows *syntax.Node) {
	id := b.suite.Dataset.ID
	if id == "" {
		id = "id"
	}
	seen := map[string]syntax.Position{}
	for _, row := range rows.Items {
		v := row.Get(id)
		if v == nil || !v.IsScalar() {
			continue
		}
		if first, ok := seen[v.Text]; ok {
			b.Report.Error(diag.DuplicateKey, v.Position, "duplicate case %s; the first one is at %s", syntax.Quote(v.Text), syntax.Where(first)).Hint = "change its " + id
			continue
		}
		seen[v.Text] = v.Position
	}
}

// checkColumns checks the columns that the dataset names.
func (b *compiler) checkColumns(v *syntax.Node, k *language.DatasetKeys) {
	if b.c.Columns == nil || b.c.Columns.Partial {
		return
	}
	names := b.c.Columns.Names
	for _, said := range [][2]string{{"id", k.ID}, {"group", k.Group}, {"weight", k.Weight}, {"tags", k.Tags}} {
		if name := said[1]; name != "" && !slices.Contains(names, name) {
			b.Report.Error(diag.UnknownName, v.Get(said[0]).Position, "no column %s in %s", syntax.Quote(name), b.c.Columns.Source).Advice = diag.Suggest(name, names)
		}
	}
}

// inputs checks the parameters that the dataset passes to runs: those in the
// section parameters, or else the columns.
func (b *compiler) inputs(v *syntax.Node, written bool) {
	section := v.Get("parameters")
	for i, s := range b.specs {
		if s == nil {
			continue
		}
		if written && section != nil {
			for _, e := range section.Entries {
				b.input(s, e)
			}
		}
		for _, p := range s.Program.Parameters {
			missing := written && section.Find(p.Name) == nil || !written && b.c.Columns.Lacks(p.Name)
			if missing && p.Required && p.Default == nil {
				b.Report.Error(diag.MissingKey, v.Position, "the dataset has no value for the required parameter %q of %s", p.Name, b.Files.Shown(s.File)+ofVariant(b.suite.Variants[i].Name)).
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

// input checks one parameter. A value with references is checked when it is
// rendered.
func (b *compiler) input(s *testspec.Subject, e *syntax.Entry) {
	if testspec.Parameter(s.Program, e.Key) == nil || !testspec.HasReference(e.Value) {
		b.c.ParameterValue(s, e, "dataset.parameters")
	}
}
