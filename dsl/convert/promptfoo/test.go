package promptfoo

import (
	"encoding/csv"
	"path"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// testcase is one test: a row of a dataset with its checks.
type testcase struct {
	id     string
	row    tree.Map
	checks []check
}

// maxTests is the maximum number of tests of a configuration.
const maxTests = 20_000

// readTests reads all tests, with what defaultTest adds to each.
func (c *config) readTests() (out []testcase) {
	standard := c.root.Get("defaultTest")
	at := c.root.Get("tests")
	var items []*tree.Value
	switch {
	case at == nil:
		items = []*tree.Value{{File: c.root.File, Path: "tests", Kind: tree.Object}}
	case at.Kind == tree.List:
		for _, it := range at.Items {
			if it.Kind == tree.Text {
				items = append(items, c.testFile(it)...)
			} else {
				items = append(items, it)
			}
		}
	case at.Kind == tree.Text:
		items = c.testFile(at)
	default:
		c.Note(at, convert.Todo, "tests that code generates are not converted: write them as rows of a dataset")
	}
	taken := map[string]bool{}
	for i, it := range items {
		if i >= maxTests {
			c.NoteAt(it.File, it.Path, convert.Todo, "only the first %d tests were converted", maxTests)
			break
		}
		if it.Kind != tree.Object {
			continue
		}
		t := testcase{id: strconv.Itoa(i + 1)}
		if text := tree.Clip(tree.Sentence(it.Get("description").UseText())); text != "" {
			t.id = text
		}
		t.id = tree.UniqueName(t.id, taken)
		c.variables(&t, standard.Get("vars"))
		c.variables(&t, it.Get("vars"))
		c.expandNested(&t, it)
		t.checks = append(c.asserts(standard.Get("assert")), c.asserts(it.Get("assert"))...)
		c.testRest(it)
		out = append(out, t)
	}
	c.testRest(standard)
	return out
}

// testRest notes the other keys of a test.
func (c *config) testRest(it *tree.Value) {
	if it == nil {
		return
	}
	c.Note(it.Get("provider"), convert.Todo, "a test has no provider of its own: the variants of the suite run it")
	c.Note(it.Get("threshold"), convert.Todo, "a case passes if all of its checks pass: write a gate over stats for less")
	c.Note(it.Get("assertScoringFunction"), convert.Dropped, "a case passes if all of its checks pass")
	c.Note(it.Get("metadata"), convert.Dropped, "add a column tags or group to the rows for what the reports should group by")
	if o := it.Get("options"); o != nil {
		c.judgeOf(o.Get("provider"))
		c.Note(o.Get("rubricPrompt"), convert.Todo, "write it as judge.rubric of the suite")
		c.Note(o.Get("transform"), convert.Todo, "the transform is code: a check's path selects parts of an answer")
	}
	c.NoteUnused(it, "a case has nothing like it")
}

// variables writes the variables of a test into its row.
func (c *config) variables(t *testcase, vars *tree.Value) {
	if vars != nil && vars.Kind == tree.Text {
		c.Note(vars, convert.Todo, "write the variables as columns of the rows")
		return
	}
	for key, it := range vars.Members() {
		if !tree.PlainKey().MatchString(key) {
			c.Note(it, convert.Todo, "%q is not a valid name of a parameter", tree.Clip(key))
			continue
		}
		c.vars[key] = true
		switch {
		case it.Kind == tree.List && len(it.Items) > 0 && it.Items[0].Kind != tree.Object:
			t.row.Set(key, it.Items[0].UseText(), "")
			c.Note(it, convert.Todo, "promptfoo runs the test once for each value of the list; the row has the first: add a row for each of the others")
		case it.Kind == tree.List || it.Kind == tree.Object:
			t.row.Set(key, it.Use().Native(), "")
			c.data[key] = true
		case strings.HasPrefix(it.Peek(), "file://"):
			t.row.Set(key, c.variableFile(it), "")
		default:
			t.row.Set(key, c.UseRedacted(it), "")
		}
	}
}

// expandNested replaces the variables in the values of variables.
func (c *config) expandNested(t *testcase, it *tree.Value) {
	for i, e := range t.row {
		text, ok := e.Value.(string)
		if !ok || !strings.Contains(text, "{{") {
			continue
		}
		text = reference().ReplaceAllStringFunc(text, func(s string) string {
			m := reference().FindStringSubmatch(s)
			if value, ok := t.row.Get(m[1]).(string); ok && m[1] != e.Key && m[2]+m[3] == "" {
				return value
			}
			return s
		})
		if rest := statement().FindString(text); rest != "" {
			c.NoteAt(it.File, tree.Join(tree.Join(it.Path, "vars"), e.Key), convert.Todo, "the text of a row has no references: replace %s", tree.Clip(rest))
		}
		t.row[i].Value = text
	}
}

// variableFile returns the content of a text file. It notes other files.
func (c *config) variableFile(it *tree.Value) string {
	ref := it.UseText()
	switch path.Ext(ref) {
	case ".txt", ".md", ".json", ".yaml", ".yml", ".csv", ".xml", ".html":
		if b, err := c.open(ref); err == nil {
			return string(b)
		}
		c.Note(it, convert.Todo, "the file cannot be read: write its text into the row")
	default:
		c.Note(it, convert.Todo, "%s is not text, and prompts are: images, sound and code have no counterpart", tree.Clip(ref))
	}
	return ref
}

// testFile reads tests from a file.
func (c *config) testFile(at *tree.Value) []*tree.Value {
	ref := at.UseText()
	ext := strings.ToLower(path.Ext(ref))
	if strings.Contains(strings.TrimPrefix(ref, "file://"), "://") || strings.Contains(ref, "*") || !strings.Contains(".csv.yaml.yml.json.jsonl", ext) || ext == "" {
		c.Note(at, convert.Todo, "tests are read from CSV, YAML, JSON and JSON Lines files beside the configuration, not from %s: write them as a dataset", tree.Clip(ref))
		return nil
	}
	b, err := c.open(ref)
	if err != nil {
		c.Note(at, convert.Todo, "the file cannot be read: %s", tree.OneLine(err.Error()))
		return nil
	}
	name := strings.TrimPrefix(ref, "file://")
	if ext == ".csv" {
		return c.csvTests(at, name, string(b))
	}
	roots, notes, err := tree.ReadAny(convert.Input{Name: name, Text: b})
	if err != nil {
		c.Note(at, convert.Todo, "the file cannot be read: %s", tree.OneLine(err.Error()))
		return nil
	}
	c.Notes = append(c.Notes, notes...)
	if len(roots) == 1 && roots[0].Kind == tree.List {
		return roots[0].Items
	}
	return roots
}

// csvTests reads tests from CSV. Columns are variables, except those that start
// with __, which promptfoo defines.
func (c *config) csvTests(at *tree.Value, name, text string) (out []*tree.Value) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		c.Note(at, convert.Todo, "the file is not CSV: %v", err)
		return nil
	}
	scalar := func(path, s string) *tree.Value {
		return &tree.Value{File: name, Path: path, Kind: tree.Text, Text: s}
	}
	for n, row := range rows[1:] {
		place := "row " + strconv.Itoa(n+1)
		test := &tree.Value{File: name, Path: place, Kind: tree.Object}
		vars := &tree.Value{File: name, Path: place, Kind: tree.Object}
		asserts := &tree.Value{File: name, Path: place, Kind: tree.List}
		for i, cell := range row {
			if i >= len(rows[0]) {
				break
			}
			column := strings.TrimSpace(rows[0][i])
			switch {
			case strings.HasPrefix(column, "__expected"):
				if cell != "" {
					asserts.Items = append(asserts.Items, shorthand(scalar(place+"."+column, cell)))
				}
			case column == "__description":
				test.Set("description", scalar(place, cell))
			case strings.HasPrefix(column, "__") || column == "":
				c.Note(scalar(place+"."+column, cell), convert.Dropped, "the column has no counterpart")
			default:
				vars.Set(strings.ReplaceAll(column, " ", "_"), scalar(place+"."+column, cell))
			}
		}
		test.Set("vars", vars)
		test.Set("assert", asserts)
		out = append(out, test)
	}
	return out
}

// shorthand converts type:value of a CSV file to an assertion. A text without a
// type must equal the answer.
func shorthand(it *tree.Value) *tree.Value {
	kind, value, ok := strings.Cut(it.Text, ":")
	switch {
	case !ok || strings.ContainsAny(kind, " \n"):
		kind, value = "equals", it.Text
	case kind == "grade":
		kind = "llm-rubric"
	case kind == "fn" || kind == "eval":
		kind = "javascript"
	}
	out := &tree.Value{File: it.File, Path: it.Path, Kind: tree.Object}
	scalar := func(s string) *tree.Value { return &tree.Value{File: it.File, Path: it.Path, Kind: tree.Text, Text: s} }
	out.Set("type", scalar(strings.TrimSpace(kind)))
	out.Set("value", scalar(strings.TrimSpace(value)))
	return out
}
