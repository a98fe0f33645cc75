package dsl_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/internal/golden"
)

// specSchema is the schema of the tests' catalogue.
func specSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	if err := c.AddResource("pex:///spec", bytes.NewReader(dsl.Schema(catalog))); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("pex:///spec")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemaAgreesWithTheCompiler: what compiles fits the schema. Sources are
// taken, since they are what the compiler understood, as JSON.
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

func TestSchemaRefusesWhatTheCompilerRefuses(t *testing.T) {
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

func TestSchemaAndReferenceAreDeterministic(t *testing.T) {
	if !bytes.Equal(dsl.Schema(catalog), dsl.Schema(catalog)) {
		t.Error("two schemas differ")
	}
	if !bytes.Equal(dsl.Reference(catalog), dsl.Reference(catalog)) {
		t.Error("two references differ")
	}
}

func TestReferenceListsEveryKey(t *testing.T) {
	golden.File(t, "reference.md", string(dsl.Reference(catalog)))
	if got := string(dsl.Reference(catalog)); !strings.Contains(got, "| `planner_prompt_template` | prompt |") {
		t.Error("a key is missing")
	}
}

func TestEveryKeyOfTheLanguageIsDocumented(t *testing.T) {
	for line := range strings.Lines(string(dsl.Reference(catalog))) {
		if strings.HasPrefix(line, "| `") && strings.HasSuffix(strings.TrimSpace(line), "|  |") {
			t.Errorf("without a sentence: %s", line)
		}
	}
}
