package dataset_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/eval/dataset"
)

// source writes a dataset to a file and returns its Source.
func source(t testing.TB, format, text string) dataset.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cases."+format)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dataset.Source{Dataset: &suitespec.Dataset{File: path, Format: format}}
}

func all(s dataset.Cases) (out []dataset.Case, err error) {
	for c, err := range s() {
		if err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}

func ids(t testing.TB, s dataset.Cases) []string {
	t.Helper()
	cases, err := all(s)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range cases {
		out = append(out, c.ID)
	}
	return out
}

func TestCasesOfFile(t *testing.T) {
	type m = map[string]any
	for _, row := range []struct {
		name, format, text string
		want               []dataset.Case
	}{
		{
			"jsonl", "jsonl", "{\"id\":\"a\",\"group\":\"g\",\"tags\":[\"x\",\"y\"],\"weight\":2,\"n\":3,\"f\":1.5,\"l\":[1]}\n\n  {\"id\":7,\"q\":\"é\"}  \n",
			[]dataset.Case{
				{ID: "a", Line: 1, Group: "g", Tags: []string{"x", "y"}, Weight: 2, Row: m{"id": "a", "group": "g", "tags": []any{"x", "y"}, "weight": 2, "n": 3, "f": 1.5, "l": []any{1}}},
				{ID: "7", Line: 3, Row: m{"id": 7, "q": "é"}},
			},
		},
		{"no newline at the end", "jsonl", `{"id":"a"}`, []dataset.Case{{ID: "a", Line: 1, Row: m{"id": "a"}}}},
		{"empty", "jsonl", "\n", nil},
		{"byte order mark", "jsonl", "\ufeff{\"id\":\"a\"}\r\n", []dataset.Case{{ID: "a", Line: 1, Row: m{"id": "a"}}}},
		{
			"csv", "csv", "\ufeffid, q ,weight,tags\r\na,\"two\nlines, \"\"quoted\"\"\",1.5,\"x, y\"\r\n\r\nb,,,\r\n",
			[]dataset.Case{
				{ID: "a", Line: 2, Weight: 1.5, Tags: []string{"x", "y"}, Row: m{"id": "a", "q": "two\nlines, \"quoted\"", "weight": "1.5", "tags": "x, y"}},
				{ID: "b", Line: 5, Row: m{"id": "b", "q": "", "weight": "", "tags": ""}},
			},
		},
		{
			"yaml", "yaml", "# cases\n- id: a\n  q: |\n    - no item\n- {id: b, n: 2}\n",
			[]dataset.Case{
				{ID: "a", Line: 2, Row: m{"id": "a", "q": "- no item\n"}}, {ID: "b", Line: 5, Row: m{"id": "b", "n": 2}},
			},
		},
		{"yaml on one line", "yaml", "[{id: a}, {id: b}]", []dataset.Case{{ID: "a", Row: m{"id": "a"}}, {ID: "b", Row: m{"id": "b"}}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := all(source(t, row.format, row.text).Cases)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(row.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCaseWithoutIDIsHashed(t *testing.T) {
	got := ids(t, source(t, "jsonl", `{"a":1,"b":{"x":2,"y":1.0}}`+"\n"+`{"a":2}`).Cases)
	same := ids(t, source(t, "jsonl", `{ "b":{"y":1,"x":2}, "a":1.0}`).Cases)
	if got[0] != same[0] || got[0] == got[1] || len(got[0]) != 12 {
		t.Fatal(got, same)
	}
	if got[0] != "966ca4f1dc02" { // ids in stored rows depend on it
		t.Fatal("ids have changed:", got[0])
	}
}

func TestColumnsNamedBySuite(t *testing.T) {
	s := source(t, "csv", "key,topic,w,labels,id\na,t,3,\"x,y\",9\n")
	s.Dataset.ID, s.Dataset.Group, s.Dataset.Weight, s.Dataset.Tags = "key", "topic", "w", "labels"
	got, err := all(s.Cases)
	if err != nil || got[0].ID != "a" || got[0].Group != "t" || got[0].Weight != 3 || len(got[0].Tags) != 2 {
		t.Fatal(got, err)
	}
}

func TestInlineRows(t *testing.T) {
	s := dataset.Source{Dataset: &suitespec.Dataset{Rows: []map[string]any{{"id": "a"}, {"id": "b"}}, Position: testspec.Position{Line: 4}}}
	if got := ids(t, s.Cases); !cmp.Equal(got, []string{"a", "b"}) {
		t.Fatal(got)
	}
	s.Dataset.Rows, s.Dataset.Lines = append(s.Dataset.Rows, map[string]any{"id": "a"}), []int{5, 7, 9}
	if _, err := all(s.Cases); err == nil || err.Error() != `dataset.rows:9: duplicate id "a", first used in line 5` {
		t.Fatal(err)
	}
}

func TestErrorsHaveLines(t *testing.T) {
	long := strings.Repeat("x", 9<<20)
	for _, row := range []struct{ name, format, text, want string }{
		{"no JSON", "jsonl", "{\"id\":\"a\"}\n{\"id\":}\n", "cases.jsonl:2: this is not JSON: "},
		{"a number that would be rounded", "jsonl", "{}\n{\"a\":[18446744073709551617]}\n", "cases.jsonl:2: the integer 18446744073709551617 does not fit in 64 bits and would be rounded: write it in quotes"},
		{"a number that would be rounded", "yaml", "- {a: 1}\n- {a: {b: -9223372036854775809}}\n", "cases.yaml:2: the integer -9223372036854775809 does not fit in 64 bits"},
		{"two values", "jsonl", "{} {}\n", "cases.jsonl:1: this is not JSON: "},
		{"no object", "jsonl", "\n[1]\n", "cases.jsonl:2: a row must be a JSON object"},
		{"same id", "jsonl", "{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":\"a\"}\n", `cases.jsonl:3: duplicate id "a", first used in line 1`},
		{"same row", "jsonl", "{\"q\":1}\n{\"q\":1}\n", "cases.jsonl:2: duplicate of line 1"},
		{"id is a list", "jsonl", `{"id":[1]}`, "column id must be text"},
		{"long id", "jsonl", `{"id":"` + strings.Repeat("x", 300) + `"}`, "the id has 300 bytes"},
		{"long line", "jsonl", `{"id":"` + long + `"}`, "cases.jsonl:1: the row is longer than 8 MiB"},
		{"not UTF-8", "jsonl", "{\"id\":\"\xff\"}", "cases.jsonl:1: the row is not UTF-8"},
		{"UTF-16", "csv", "\xff\xfei\x00d\x00", "cases.csv: the file is UTF-16"},
		{"weight", "jsonl", `{"weight":0}`, "column weight: a weight must be from 1e-06 to 1e+06, not 0"},
		{"weight of which sums are none", "jsonl", `{"weight":1e308}`, "not 1e+308"},
		{"weight that is not a number", "csv", "weight\nNaN\n", "not NaN"},
		{"weight of text", "csv", "weight\nmuch\n", `cases.csv:2: column weight: "much" is not a number`},
		{"weight of a list", "jsonl", `{"weight":[]}`, "column weight is not a number"},
		{"tags", "jsonl", `{"tags":[1]}`, "column tags: each tag must be text"},
		{"tags of a mapping", "jsonl", `{"tags":{}}`, "column tags: tags must be a list"},
		{"empty csv", "csv", "", "cases.csv: the file is empty"},
		{"column without a name", "csv", "a,,c\n", "cases.csv:1: column 2 has no name"},
		{"two columns of a name", "csv", "a, a\n", "cases.csv:1: duplicate column a"},
		{"other comma", "csv", "a;b\n1;2\n", `cases.csv:1: only one column, "a;b"`},
		{"too few values", "csv", "a,b\n1,2\n3\n", "cases.csv:3: the row has 1 values, the header has 2"},
		{"quote within", "csv", "a,b\nx\"y,2\n", "cases.csv:2: quote in an unquoted value"},
		{"quote behind", "csv", "a,b\n\"x\"y,2\n", "cases.csv:2: invalid quoted value"},
		{"open quote", "csv", "a\n\"x\n" + long + long, "cases.csv: the row is longer than 8 MiB"},
		{"csv not UTF-8", "csv", "a\n\xff\n", "cases.csv:2: column a is not UTF-8"},
		{"yaml", "yaml", "- a: [\n", "cases.yaml: invalid YAML:\n"},
		{"yaml is no list", "yaml", "a: 1\n", "cases.yaml: a dataset must be a list of rows"},
		{"yaml row", "yaml", "- a: 1\n- b\n", "cases.yaml:2: row 2 must be a mapping"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := all(source(t, row.format, row.text).Cases); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Fatalf("want %q, got %.300v", row.want, err)
			}
		})
	}
	for text, want := range map[string]string{`{"q":1}`: "cases.jsonl:1: the row has no column key", `{"key":" "}`: "cases.jsonl:1: column key is empty"} {
		s := source(t, "jsonl", text)
		s.Dataset.ID = "key"
		if _, err := all(s.Cases); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatal(err)
		}
	}
	s := dataset.Source{Dataset: &suitespec.Dataset{File: "nowhere.jsonl"}, Name: "../nowhere.jsonl"}
	if _, err := all(s.Cases); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "../nowhere.jsonl: ") {
		t.Fatal(err)
	}
}

func TestDigest(t *testing.T) {
	got, err := dataset.Digest(source(t, "jsonl", "abc").Dataset.File)
	if want := "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; err != nil || got != want {
		t.Fatal(got, err)
	}
}

func FuzzCases(f *testing.F) {
	f.Add("jsonl", []byte(`{"id":"a","weight":1}`))
	f.Add("csv", []byte("id,q\na,\"x\ny\"\n"))
	f.Add("yaml", []byte("- id: a\n- {id: b}\n"))
	f.Fuzz(func(t *testing.T, format string, text []byte) {
		path := filepath.Join(t.TempDir(), "cases")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s := dataset.Source{Dataset: &suitespec.Dataset{File: path, Format: format}}
		cases, err := all(s.Cases)
		ids := map[string]bool{}
		for _, c := range cases {
			if c.ID == "" || ids[c.ID] || c.Row == nil || c.Weight < 0 {
				t.Fatalf("%+v", c)
			}
			ids[c.ID] = true
		}
		again, err2 := all(s.Cases)
		if fmt.Sprint(err) != fmt.Sprint(err2) || !cmp.Equal(cases, again) {
			t.Fatal("read twice it differs", err, err2)
		}
	})
}
