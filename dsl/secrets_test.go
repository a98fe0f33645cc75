package dsl_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
)

// A schema describes headers by name; only a value is a secret.
func TestSchemasOfHeadersAreNotSecrets(t *testing.T) {
	tests := []struct {
		name, tool, schema string
		secret             bool
	}{
		{name: "a property", schema: `{type: object, properties: {authorization: {type: string, description: "The header, such as Bearer abcdef0123456789abcdef"}}}`},
		{name: "a pattern", schema: `{type: object, properties: {x-api-key: {type: string, pattern: "^[A-Za-z0-9]{32}$"}}}`},
		{name: "an example that names no key", schema: `{type: object, properties: {authorization: {type: string, examples: ["Bearer YOUR_TOKEN_GOES_HERE"]}}}`},
		{name: "required", schema: `{type: object, properties: {x-api-key: {type: string}}, required: [x-api-key]}`},
		{name: "names that depend", schema: `{type: object, dependentRequired: {authorization: [x-request-signature-v2-sha256]}}`},
		{name: "names that depend, as in draft-07", schema: `{$schema: "http://json-schema.org/draft-07/schema#", type: object, dependencies: {x-api-key: [x-request-signature-v2-sha256]}}`},
		{name: "a value in a schema", schema: `{type: object, properties: {authorization: {default: "Bearer abcdef0123456789abcdef"}}}`, secret: true},
		{name: "a value behind a property that is called so", schema: `{type: object, properties: {dependentRequired: {type: object, default: {x: {authorization: a1b2c3d4e5f6g7h8i9j0k1l2m3n4}}}}}`, secret: true},
		{name: "a header", tool: `{type: http, description: d, url: "https://api.example.com", headers: {Authorization: Bearer abcdef0123456789abcdef}}`, secret: true},
		{name: "a header with a key", tool: `{type: http, description: d, url: "https://api.example.com", headers: {X-Api-Key: a1b2c3d4e5f6g7h8i9j0k1l2m3n4}}`, secret: true},
		{name: "a reference", tool: `{type: http, description: d, url: "https://api.example.com", headers: {X-Api-Key: "${env.KEY}"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for place, extra := range map[string]string{
				"a tool":        "tools: {x: {type: command, effect: read, description: d, argv: [echo], input_schema: " + tt.schema + "}}\n",
				"the output":    "output: {schema: " + tt.schema + "}\n",
				"a tool's keys": "tools: {x: " + tt.tool + "}\n",
			} {
				if (place == "a tool's keys") != (tt.tool != "") {
					continue
				}
				t.Chdir(t.TempDir())
				spec := "apiVersion: pex/v1\nkind: Agent\nmetadata: {name: a}\nllms: {main: {provider: scripted}}\n" + extra
				if err := os.WriteFile("spec.yaml", []byte(spec), 0o600); err != nil {
					t.Fatal(err)
				}
				_, _, found := dsl.Compile("spec.yaml", dsl.Options{Catalog: catalog})
				said := false
				for _, d := range found {
					said = said || d.Code == diag.Secret
				}
				if said != tt.secret {
					t.Errorf("%s: a secret is reported: %v\n%s", place, said, found)
				}
				if tt.secret && strings.Contains(found.String(), "abcdef0123456789abcdef") {
					t.Errorf("%s: it is shown:\n%s", place, found)
				}
			}
		})
	}
}
