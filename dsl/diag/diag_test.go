package diag_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/diag"
)

func TestCodesAreExplained(t *testing.T) {
	var all []string
	for _, m := range diag.Codes() {
		if !regexp.MustCompile(`^PEX\d{3}$`).MatchString(string(m.Code)) {
			t.Errorf("%s is no code", m.Code)
		}
		if m.Title == "" || strings.HasSuffix(m.Title, ".") || !strings.HasSuffix(m.Meaning, ".") {
			t.Errorf("%s: a title has no full stop, a meaning has one: %+v", m.Code, m)
		}
		all = append(all, string(m.Code))
	}
	if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Error("the codes are not sorted, or one stands twice")
	}
	if m, ok := diag.Explain("PEX012"); !ok || m.Code != diag.MissingKey {
		t.Errorf("PEX012 is %+v", m)
	}
	if _, ok := diag.Explain("PEX999"); ok {
		t.Error("PEX999 is explained")
	}
}

func TestSortByPlaceOnce(t *testing.T) {
	d := func(file string, line, column int) diag.Diagnostic {
		return diag.Diagnostic{File: file, Line: line, Column: column, Code: diag.Syntax, Severity: diag.Error}
	}
	l := diag.List{d("b", 2, 1), d("a", 1, 1), d("b", 1, 9), d("b", 1, 2), d("b", 2, 1)}
	want := diag.List{d("b", 1, 2), d("b", 1, 9), d("b", 2, 1), d("a", 1, 1)}
	if diff := cmp.Diff([]diag.Diagnostic(want), []diag.Diagnostic(l.Sort())); diff != "" {
		t.Error(diff)
	}
}

func TestJSONForm(t *testing.T) {
	l := diag.List{
		{File: "spec.yaml", Line: 3, Column: 7, Code: diag.UnknownKey, Severity: diag.Error, Message: "m", Advice: diag.Advice{Hint: "h"}, Snippet: "not shown"},
		{File: "spec.yaml", Line: 9, Column: 1, Code: diag.Unused, Severity: diag.Warning, Message: "w"},
	}
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"diagnostics":[{"file":"spec.yaml","line":3,"column":7,"code":"PEX010","severity":"error","message":"m","hint":"h"},` +
		`{"file":"spec.yaml","line":9,"column":1,"code":"PEX074","severity":"warning","message":"w","hint":""}],"errors":1,"warnings":1}`
	if string(b) != want {
		t.Errorf("got %s", b)
	}
	if b, _ := json.Marshal(diag.List(nil)); string(b) != `{"diagnostics":[],"errors":0,"warnings":0}` {
		t.Errorf("an empty list is %s", b)
	}
}

func TestTextForm(t *testing.T) {
	at := func(column int, line string) diag.Diagnostic {
		return diag.Diagnostic{File: "s.yaml", Line: 12, Column: column, Code: diag.Syntax, Severity: diag.Error, Message: "m", Snippet: line}
	}
	long := strings.Repeat("a", 300) + "X" + strings.Repeat("b", 300)
	cases := []struct {
		name string
		d    diag.Diagnostic
		want string
	}{
		{"a caret under the column", at(5, "key: value"), "s.yaml:12:5: error PEX004: m\n  12 | key: value\n     |     ^\n"},
		{"tabs line up at any width", at(3, "\tab"), "s.yaml:12:3: error PEX004: m\n  12 | \tab\n     | \t ^\n"},
		{"wide characters take two columns", at(3, "日本x"), "s.yaml:12:3: error PEX004: m\n  12 | 日本x\n     |     ^\n"},
		{"combining ones take none", at(3, "e\u0301x"), "s.yaml:12:3: error PEX004: m\n  12 | e\u0301x\n     |  ^\n"},
		{"a column behind the line", at(99, "ab"), "s.yaml:12:99: error PEX004: m\n  12 | ab\n     |   ^\n"},
		{"control characters are shown", at(1, "\x1b[31mred\u202e"), "s.yaml:12:1: error PEX004: m\n  12 | ␛[31mred�\n     | ^\n"},
		{"a file as a whole", diag.Diagnostic{File: "s.yaml", Code: diag.Unreadable, Severity: diag.Error, Message: "m", Advice: diag.Advice{Hint: "h"}}, "s.yaml: error PEX001: m\n  hint: h\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.d.String(); got != c.want {
				t.Errorf("got\n%q, want\n%q", got, c.want)
			}
		})
	}
	lines := strings.Split(at(301, long).String(), "\n")
	if len([]rune(lines[1])) > 140 || !strings.ContainsRune(lines[1], 'X') ||
		len([]rune(lines[1][:strings.IndexRune(lines[1], 'X')])) != len([]rune(lines[2]))-1 {
		t.Errorf("a long line is cut around the column:\n%s", strings.Join(lines, "\n"))
	}
}

func TestPagesOfCodesAreWellFormed(t *testing.T) {
	for _, m := range diag.Codes() {
		for _, e := range []diag.Example{m.Wrong, m.Right} {
			for _, f := range e.Files {
				if f.Name == "" || f.Language == "" || !strings.HasSuffix(f.Text, "\n") {
					t.Errorf("%s: a block begins with ```yaml spec.yaml: %+v", m.Code, f)
				}
			}
			if e.Command != "" && !strings.HasPrefix(e.Command, "pexctl vet ") && !strings.HasPrefix(e.Command, "pexctl run ") {
				t.Errorf("%s: the command is %q", m.Code, e.Command)
			}
		}
		if page := m.Body(); len(m.Right.Files) > 0 && (!strings.Contains(page, "\nWrong:\n\n```") || !strings.Contains(page, "\nRight:\n\n```")) {
			t.Errorf("%s in Markdown is\n%s", m.Code, page)
		}
	}
	m, _ := diag.Explain("PEX001")
	if len(m.Wrong.Files) != 2 || m.Wrong.Files[1].Name != "prompts/plan.md" || m.Wrong.Files[1].Text != "Plan the work in short steps.\n" {
		t.Errorf("the files of PEX001 are %+v", m.Wrong.Files)
	}
	if m, _ := diag.Explain("PEX018"); m.Wrong.Command != "pexctl vet spec.yaml --set limits.max_steps" {
		t.Errorf("the command of PEX018 is %q", m.Wrong.Command)
	}
}

func TestCodesReturnsACopy(t *testing.T) {
	diag.Codes()[0].Title = "changed"
	if diag.Codes()[0].Title == "changed" {
		t.Error("a caller changes the reference")
	}
}
