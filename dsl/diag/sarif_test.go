package diag_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/pexctl/pex/dsl/diag"
)

// officialSchema returns the schema that OASIS publishes.
func officialSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("sarif.json", bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inSources implements Log.File of these tests: flags are not files.
func inSources(file string) string {
	if strings.HasPrefix(file, "--") {
		return ""
	}
	return path.Clean(file)
}

func sarifOf(t *testing.T, l diag.Log) map[string]any {
	t.Helper()
	l.File = inSources
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if err := officialSchema(t).Validate(v); err != nil {
		t.Errorf("%#v\n%s", err, text)
	}
	return v
}

// at returns the value at a path of keys and indexes.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func TestSARIFFitsTheStandard(t *testing.T) {
	missing := diag.Diagnostic{File: "specs/a b/spec.yaml", Line: 3, Column: 2, EndColumn: 9, Code: diag.MissingKey, Severity: diag.Error, Message: "no\nmetadata", Advice: diag.Advice{Hint: "write it"}, Snippet: "kind: Agent"}
	cases := []struct {
		name string
		log  diag.Log
		want map[string]any // of the first result
	}{
		{"nothing", diag.Log{Version: "v1"}, nil},
		{"a place", diag.Log{Found: diag.List{missing}}, map[string]any{
			"ruleId": "PEX012", "ruleIndex": 0.0, "level": "error", "message": map[string]any{"text": "no metadata\nhint: write it"},
			"locations": []any{map[string]any{"physicalLocation": map[string]any{
				"artifactLocation": map[string]any{"uri": "specs/a%20b/spec.yaml", "uriBaseId": "%SRCROOT%"},
				"region":           map[string]any{"startLine": 3.0, "startColumn": 2.0, "endColumn": 9.0},
			}}},
		}},
		{"a file as a whole", diag.Log{Found: diag.List{{File: "a:b.yaml", Code: diag.Unreadable, Severity: diag.Error, Message: "gone"}}}, map[string]any{
			"ruleId": "PEX001", "ruleIndex": 0.0, "level": "error", "message": map[string]any{"text": "gone"},
			"locations": []any{map[string]any{"physicalLocation": map[string]any{"artifactLocation": map[string]any{"uri": "./a:b.yaml", "uriBaseId": "%SRCROOT%"}}}},
		}},
		{"an absolute path", diag.Log{Found: diag.List{{File: "/etc/x y", Code: diag.OutsideRoot, Severity: diag.Error, Message: "m"}}}, map[string]any{
			"ruleId": "PEX002", "ruleIndex": 0.0, "level": "error", "message": map[string]any{"text": "m"},
			"locations": []any{map[string]any{"physicalLocation": map[string]any{"artifactLocation": map[string]any{"uri": "file:///etc/x%20y"}}}},
		}},
		{"a flag", diag.Log{Found: diag.List{{File: "--set a=b", Line: 1, Column: 1, Code: diag.BadOverride, Severity: diag.Error, Message: "m"}}}, map[string]any{
			"ruleId": "PEX018", "ruleIndex": 0.0, "level": "error", "message": map[string]any{"text": "--set a=b: m"},
		}},
		{"an ignored warning", diag.Log{Ignored: []diag.Ignored{{Reason: "drafts", Diagnostic: diag.Diagnostic{File: "s.yaml", Line: 1, Column: 1, Code: diag.UnapprovedTool, Severity: diag.Warning, Message: "m"}}}}, map[string]any{
			"ruleId": "PEX073", "ruleIndex": 0.0, "level": "warning", "message": map[string]any{"text": "m"},
			"locations": []any{map[string]any{"physicalLocation": map[string]any{
				"artifactLocation": map[string]any{"uri": "s.yaml", "uriBaseId": "%SRCROOT%"}, "region": map[string]any{"startLine": 1.0, "startColumn": 1.0},
			}}},
			"suppressions": []any{map[string]any{"kind": "inSource", "justification": "drafts"}},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, _ := at(sarifOf(t, c.log), "runs", 0, "results", 0).(map[string]any)
			delete(got, "partialFingerprints")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every code can be a rule, and if some results are suppressed, every result has
// suppressions.
func TestSARIFHasARuleForEachCode(t *testing.T) {
	var l diag.Log
	for _, m := range diag.Codes() {
		l.Found = append(l.Found, diag.Diagnostic{File: "s.yaml", Line: 1, Column: 1, Code: m.Code, Severity: diag.Warning, Message: "m"})
	}
	l.Ignored = []diag.Ignored{{Diagnostic: l.Found[0], Reason: "r"}}
	v := sarifOf(t, l)
	rules, _ := at(v, "runs", 0, "tool", "driver", "rules").([]any)
	if len(rules) != len(diag.Codes()) {
		t.Fatalf("%d rules", len(rules))
	}
	for i, m := range diag.Codes() {
		if at(rules[i], "id") != string(m.Code) || at(rules[i], "helpUri") != m.Code.URL() || at(rules[i], "name") == "" {
			t.Errorf("rule %d is %v", i, rules[i])
		}
		if at(v, "runs", 0, "results", i, "ruleIndex") != float64(i) {
			t.Errorf("result %d is %v", i, at(v, "runs", 0, "results", i))
		}
		if s, ok := at(v, "runs", 0, "results", i, "suppressions").([]any); !ok || len(s) > 0 {
			t.Errorf("result %d does not say that it counts", i)
		}
	}
}

// A fingerprint does not change when lines are added above, and two equal
// findings have different fingerprints.
func TestSARIFFingerprintsStay(t *testing.T) {
	d := func(file string, line int, text string) diag.Diagnostic {
		return diag.Diagnostic{File: file, Line: line, Column: 3, Code: diag.Unused, Severity: diag.Warning, Message: "m", Snippet: text}
	}
	prints := func(l ...diag.Diagnostic) (out []any) {
		v := sarifOf(t, diag.Log{Found: l})
		for i := range l {
			out = append(out, at(v, "runs", 0, "results", i, "partialFingerprints", "primaryLocationLineHash"))
		}
		return out
	}
	before := prints(d("s.yaml", 3, "  spare: {}"), d("s.yaml", 9, "  spare: {}"), d("t.yaml", 3, "  spare: {}"), d("s.yaml", 4, "  other: {}"))
	after := prints(d("s.yaml", 5, "    spare: {}"), d("s.yaml", 19, "  spare: {}"), d("t.yaml", 4, "  spare: {}"), d("s.yaml", 6, "  other: {}"))
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	if here, elsewhere := before[0], prints(d("./s.yaml", 3, "  spare: {}"))[0]; here != elsewhere {
		t.Errorf("the same file by another name is another finding: %v, %v", here, elsewhere)
	}
	seen := map[any]bool{}
	for _, p := range before {
		if seen[p] || p == nil {
			t.Errorf("%v stands twice or is none", p)
		}
		seen[p] = true
	}
}
