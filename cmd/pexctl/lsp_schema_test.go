package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/pexctl/pex/dsl"
	specschema "github.com/pexctl/pex/dsl/jsonschema"
	"github.com/pexctl/pex/dsl/specfs"
)

// languageSchema returns the schema that pexctl schema prints.
func languageSchema(t *testing.T) ([]byte, *jsonschema.Schema) {
	t.Helper()
	text := specschema.New(components().Catalog, components().Checks.Blueprints("check"))
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	if err := c.AddResource("pex:///language", bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("pex:///language")
	if err != nil {
		t.Fatal(err)
	}
	return text, s
}

// fits validates a file of the language that vet accepts against the schema.
func fits(t *testing.T, s *jsonschema.Schema, path, text string) (ours bool) {
	t.Helper()
	doc, found := dsl.JSON(path, []byte(text))
	if found.Failed() {
		return false
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%s: %#v", path, err)
	}
	return true
}

func TestSchemaAcceptsEveryFileOfTheRepository(t *testing.T) {
	oneGoroutine(t)
	_, s := languageSchema(t)
	seen := 0
	for _, top := range []string{"../../specs", "../../testdata/contract"} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			kind, _ := specfs.Kind(path)
			_, found := dsl.Vet(path, dsl.Options{Catalog: components().Catalog, Checks: components().Checks.Blueprints("check")})
			text, err := os.ReadFile(path)
			if kind != "" && !found.Failed() && fits(t, s, path, string(text)) {
				seen++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 40 {
		t.Errorf("only %d files were looked at", seen)
	}
}

func TestSchemaAcceptsEveryBlockOfTheDocs(t *testing.T) {
	oneGoroutine(t)
	_, s := languageSchema(t)
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
			if fits(t, s, page, m[1]) {
				seen++
			}
		}
	}
	if seen == 0 {
		t.Error("no block was looked at")
	}
}

// TestSchemaDescribesEveryKey: every completion of an editor has documentation.
func TestSchemaDescribesEveryKey(t *testing.T) {
	oneGoroutine(t)
	text, _ := languageSchema(t)
	var schema any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	if n := undescribed(t, schema, ""); n < 1000 {
		t.Errorf("only %d keys were looked at", n)
	}
}

// undescribed reports the properties without a description, and counts all. Keys
// in conditions are not offered by editors.
func undescribed(t *testing.T, v any, path string) (seen int) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, it := range v {
			seen += undescribed(t, it, path+"[]")
		}
	case map[string]any:
		properties, _ := v["properties"].(map[string]any)
		for key, p := range properties {
			seen++
			// without a type it only adds to another definition
			if of, ok := p.(map[string]any); ok && of["description"] == nil && v["type"] != nil {
				t.Errorf("%s.%s has no description", path, key)
			}
			seen += undescribed(t, p, path+"."+key)
		}
		for key, x := range v {
			if key != "if" && key != "not" && key != "properties" {
				seen += undescribed(t, x, path+"."+key)
			}
		}
	}
	return seen
}
