package dsl_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/pexctl/pex/dsl"
	specschema "github.com/pexctl/pex/dsl/jsonschema"
	"github.com/pexctl/pex/engine/goldentest"
)

// specSchema returns the schema of the tests' catalog.
func specSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	if err := c.AddResource("pex:///spec", bytes.NewReader(specschema.New(catalog, checks))); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("pex:///spec")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemaAgreesWithTheCompiler: what compiles matches the schema. It validates
// Sources, which are the compiled specs as JSON.
func TestSchemaAgreesWithTheCompiler(t *testing.T) {
	s := specSchema(t)
	specs, err := filepath.Glob("../testdata/contract/*/spec.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range specs {
		p, _, _ := dsl.Compile(path, dsl.Options{Catalog: catalog})
		if p == nil {
			continue
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(p.Source))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %#v", path, err)
		}
	}
}

func TestSchemaRejectsWhatTheCompilerRejects(t *testing.T) {
	s := specSchema(t)
	cases := map[string]string{
		"an unknown key":              `"planer": {}`,
		"an unknown key of a role":    `"planner": {"plan_fromat": "dag"}`,
		"an unknown key of a builtin": `"tools": {"clock": {"zone": "UTC"}}`,
		"an unknown key of a type":    `"tools": {"x": {"type": "command", "argv": ["ls"], "url": "y"}}`,
		"a required key":              `"tools": {"x": {"type": "command"}}`,
		"a word":                      `"planner": {"plan_format": "tree"}`,
		"a provider":                  `"llms": {"main": {"provider": "opnai"}}`,
		"an option of another":        `"llms": {"main": {"provider": "scripted", "options": {"reasoning_effort": "low"}}}`,
		"a bound":                     `"limits": {"max_steps": 0}`,
		"a node's type":               `"graph": {"nodes": [{"id": "a", "type": "planer"}], "edges": [{"from": "a", "to": "end"}]}`,
		"a test without a name":       `"tests": [{"render": "planner"}]`,
		"an unknown key of a test":    `"tests": [{"name": "a", "rendr": "planner"}]`,
		"suites that are no paths":    `"evals": {"a": "b"}`,
		"a node's key":                `"graph": {"nodes": [{"id": "a", "type": "planner", "argv": []}], "edges": [{"from": "a", "to": "end"}]}`,
	}
	for name, part := range cases {
		t.Run(name, func(t *testing.T) {
			var v any
			if err := json.Unmarshal([]byte(`{"apiVersion": "pex/v1", "kind": "Agent", "metadata": {"name": "x"}, `+part+`}`), &v); err != nil {
				t.Fatal(err)
			}
			if s.Validate(v) == nil {
				t.Error("the schema takes it")
			}
		})
	}
}

// TestSchemaAcceptsTestsAndSuites: files without diagnostics match the schema.
func TestSchemaAcceptsTestsAndSuites(t *testing.T) {
	s := specSchema(t)
	goldentest.Each(t, "../testdata/tests/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		for _, name := range a.Names() {
			if filepath.Ext(name) != ".yaml" || name == "state.yaml" || name == "replies.yaml" {
				continue
			}
			if err := s.Validate(decoded(t, name, a.Input(t, name))); err != nil {
				t.Errorf("%s: %#v", name, err)
			}
		}
	})
}

// decoded converts a YAML text to JSON values.
func decoded(t *testing.T, name, text string) any {
	t.Helper()
	doc, found := dsl.JSON(name, []byte(text))
	if found.Failed() {
		t.Fatal(found)
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSchemaRejectsBrokenTestsAndSuites(t *testing.T) {
	s := specSchema(t)
	oneCase := func(part string) string { return testsHead + "tests:\n  - {name: a, run: {}, " + part + "}\n" }
	suite := func(part string) string {
		return suiteHead + "dataset: x.csv\nchecks: [true]\n" + part + "\n"
	}
	cases := map[string]string{
		"a kind that there is not":             "apiVersion: pex/v1\nkind: Suit\nmetadata: {name: x}\n",
		"tests without tests":                  testsHead,
		"a test without a name":                testsHead + "tests: [{render: planner}]\n",
		"an unknown key of a case":             oneCase("expct: [true]"),
		"an unknown key of a run":              testsHead + "tests: [{name: a, run: {tape: x}}]\n",
		"an unknown key of a reply":            testsHead + "tests: [{name: a, run: {replies: [{txt: x}]}}]\n",
		"a fault":                              oneCase("inject: [{tool: a, error: 503}]"),
		"an unknown check":                     oneCase("checks: [{type: contain}]"),
		"an unknown key of a check":            oneCase("checks: [{type: contains, valu: x}]"),
		"a check without a type":               oneCase("checks: [{value: x}]"),
		"an unknown key of a trajectory":       oneCase("trajectory: {tols: [a]}"),
		"an expression that is a list":         oneCase("expect: [[a]]"),
		"a case.yaml with an unknown key":      "render: planner\nrunn: {}\n",
		"a case.yaml of tests":                 testsHead + "run: {}\nrunn: {}\n",
		"a suite without a name":               strings.Replace(suite(""), "metadata: {name: nightly}", "", 1),
		"a suite without checks":               suiteHead + "dataset: x.csv\n",
		"an unknown key of a suite":            suite("repeats: 3"),
		"an unknown key of a dataset":          suiteHead + "dataset: {fil: x.csv}\nchecks: [true]\n",
		"a bound of a suite":                   suite("repeat: 0"),
		"a variant's key":                      suite("variants: {a: {sets: {}}}"),
		"a gate's key":                         suite("gates: [{eachs: x}]"),
		"errors that are no share":             suite("max_errors: many"),
		"a provider of the judge":              suite("llms: {a: {provider: opnai}}"),
		"an unknown key of an expression":      suiteHead + "dataset: x.csv\nchecks: [{type: expr, this: x}]\n",
		"quarantine that nobody is to end":     suite("quarantine: [{case: a, owner: b}]"),
		"a baseline that is no ref and no map": suite("baseline: [a]"),
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			if s.Validate(decoded(t, name, text)) == nil {
				t.Error("the schema takes it")
			}
		})
	}
}

func TestSchemaAndReferenceAreDeterministic(t *testing.T) {
	if !bytes.Equal(specschema.New(catalog, checks), specschema.New(catalog, checks)) {
		t.Error("two schemas differ")
	}
	if !slices.Equal(specschema.Reference(catalog, checks), specschema.Reference(catalog, checks)) {
		t.Error("two references differ")
	}
}

// reference returns all pages as one text.
func reference() string {
	var b strings.Builder
	for _, p := range specschema.Reference(catalog, checks) {
		b.WriteString(p.Text() + "\n")
	}
	return b.String()
}

func TestReferenceListsEveryKey(t *testing.T) {
	got := reference()
	goldentest.File(t, "reference.md", got)
	if !strings.Contains(got, "| `planner_prompt_template` | prompt |") {
		t.Error("a key is missing")
	}
}

func TestEveryKeyOfTheLanguageIsDocumented(t *testing.T) {
	for line := range strings.Lines(reference()) {
		if strings.HasPrefix(line, "| `") && strings.HasSuffix(strings.TrimSpace(line), "|  |") {
			t.Errorf("without a sentence: %s", line)
		}
	}
}
