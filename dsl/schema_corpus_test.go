package dsl_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/goldentest"
)

// TestSchemaRejectsBrokenFiles checks all broken specs: the schema rejects each
// file that vet rejects, or beyondSchema has the reason why it cannot.
func TestSchemaRejectsBrokenFiles(t *testing.T) {
	s := specSchema(t)
	seen := map[string]bool{}
	goldentest.Each(t, "../testdata/vet/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		name := filepath.Base(t.Name())
		seen[name] = true
		why, beyond := beyondSchema[name]
		switch refused := schemaRefuses(t, s, a); {
		case refused && beyond:
			t.Errorf("the schema refuses it: take it off the list (%s)", why)
		case !refused && !beyond && withinReach(t, a):
			t.Errorf("the schema takes it, and no reason is listed")
		}
	})
	for name := range beyondSchema {
		if !seen[name] {
			t.Errorf("there is no case %s", name)
		}
	}
}

// TestSchemaAcceptsSpecsThatCompile: the schema accepts what vet accepts.
func TestSchemaAcceptsSpecsThatCompile(t *testing.T) {
	s := specSchema(t)
	goldentest.Each(t, "../testdata/compile/*.txtar", func(t *testing.T, a *goldentest.Archive) {
		if schemaRefuses(t, s, a) {
			t.Error("the schema refuses it")
		}
	})
}

var reported = regexp.MustCompile(`(?m)^[^ ].*: (?:error|warning) (PEX\d{3}): .*`)

// withinReach reports whether a schema can check at least one of vet's
// diagnostics.
func withinReach(t *testing.T, a *goldentest.Archive) bool {
	t.Helper()
	for _, m := range reported.FindAllStringSubmatch(a.Input(t, "diagnostics"), -1) {
		if beyondCodes[diag.Code(m[1])] == "" {
			t.Log(m[0])
			return true
		}
	}
	return false
}

// schemaRefuses reports whether the schema rejects one of the files of a case.
func schemaRefuses(t *testing.T, s *jsonschema.Schema, a *goldentest.Archive) bool {
	t.Helper()
	for _, name := range a.Names() {
		if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" {
			continue
		}
		doc, found := dsl.JSON(name, []byte(a.Input(t, name)))
		if found.Failed() {
			return true // not YAML: any editor reports it
		}
		if (filepath.Base(name) == "case.yaml" || isOurs(doc)) && s.Validate(decoded(t, name, a.Input(t, name))) != nil {
			return true
		}
	}
	return false
}

// isOurs reports whether a document is a file of the language, not a schema,
// replies or data.
func isOurs(doc []byte) bool {
	text := string(doc)
	return strings.Contains(text, `"apiVersion"`) || strings.Contains(text, `"kind"`) || strings.Contains(text, `"metadata"`)
}
