package dsl

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Reference is the language in Markdown tables: every section, and every
// provider, tool, node and check that there is, from the same structs as Schema.
func Reference(catalog engine.Catalog, checks component.Blueprints) []byte {
	var b strings.Builder
	doc, entry := defaultDocument(), defaultLLM()
	b.WriteString("# The language (" + apiVersion + ")\n\nMade from the code; `pexctl schema` prints the same as JSON Schema.\n")
	table(&b, "## A spec", "", &doc)
	table(&b, "## `llms.<name>`", "A role takes the same keys beside its `llm`, for itself alone.", &entry)
	table(&b, "## `tools.<name>`", "Keys of every tool; those of its type stand beside them.", &tool{})
	table(&b, "## `guards[]`", "", &guardRule{})
	table(&b, "## `memory.compaction`", "The rules that are written are tried in this order, each when its condition holds on what the ones before it left.", &compactionKeys{})
	table(&b, "## `graph`", "", &graphKeys{})
	table(&b, "### `graph.nodes[]`", "With the keys of the node's type.", &nodeKeys{})
	testTables(&b)
	b.WriteString("\n## Roles and nodes\n")
	for _, f := range catalog.Nodes {
		table(&b, "### `"+f.Type+"`", f.Doc, f.Config())
	}
	b.WriteString("\n## Providers\n")
	for _, f := range catalog.Models {
		table(&b, "### `provider: "+f.Type+"`", f.Doc+" Keys of `options`:", f.Config())
	}
	b.WriteString("\n## Tools\n")
	for _, f := range catalog.Tools {
		table(&b, "### `"+f.Type+"`", f.Doc, f.Config())
	}
	b.WriteString("\n## Checks\n")
	for _, k := range checks {
		table(&b, "### `type: "+k.Type+"`", k.Doc, k.Config())
	}
	return []byte(b.String())
}

// testTables are the keys of tests and suites.
func testTables(b *strings.Builder) {
	suite, dataset, held, check := defaultSuite(), datasetKeys{}, defaultBaseline(), defaultCheck()
	table(b, "## A file of kind: Tests", "Tests stand in the spec (`tests`), in files of kind: Tests beside it or in `tests/`, and in `tests/<case>/case.yaml`, which holds one case.", &testsKeys{})
	table(b, "### `tests[]`", "A case; it renders prompts, runs the agent offline, or both.", &caseKeys{})
	table(b, "### `case.yaml`", "The keys of a case, and:", &caseFileKeys{})
	table(b, "## A file of kind: Suite", "", &suite)
	table(b, "### `dataset`", "Text alone is the file.", &dataset)
	table(b, "### `variants.<name>`", "", &variantKeys{})
	table(b, "### `judge`", "", &judgeKeys{})
	table(b, "### `embed`", "", &embedKeys{})
	table(b, "### `gates[]`", "Text alone is an expression over `stats` and `baseline`.", &gateKeys{})
	table(b, "### `baseline`", "Text alone is the ref.", &held)
	table(b, "## `checks[]`", "Keys of every check of tests and suites; those of its type stand beside them. Text alone is an expression: `{type: expr, that: ...}`.", &check)
}

// table writes the keys of one struct, those of structs in it with their path.
func table(b *strings.Builder, title, about string, config any) {
	fmt.Fprintf(b, "\n%s\n", title)
	if about != "" {
		fmt.Fprintf(b, "\n%s\n", about)
	}
	keys := Keys(config)
	if len(keys) == 0 {
		b.WriteString("\nNo keys of its own.\n")
		return
	}
	b.WriteString("\n| key | value | default | |\n| --- | --- | --- | --- |\n")
	for _, k := range keys {
		def := k.Default
		if k.Required {
			def = "*required*"
		} else if def != "" {
			def = "`" + strings.ReplaceAll(def, "|", `\|`) + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", k.Key, k.Value, def, strings.ReplaceAll(k.Doc, "|", `\|`))
	}
}

// Key is one key that a Config takes: its dotted path, what it takes in a few
// words of Markdown, its default ("" = none), and what it is for.
type Key struct {
	Key      string `json:"key"`
	Value    string `json:"value"`
	Default  string `json:"default,omitempty"`
	Required bool   `json:"required,omitempty"`
	Doc      string `json:"doc"`
}

// Keys lists the keys of a Config, given as a pointer to its defaults, those of
// structs in it too, in the order of its fields.
func Keys(config any) []Key { return addKeys(nil, "", target(config)) }

func addKeys(keys []Key, path string, v reflect.Value) []Key {
	fields, _ := fieldsOf([]reflect.Value{v})
	for _, f := range fields {
		k := Key{Key: join(path, f.key), Value: kindOf(f), Required: f.tag.Get("required") != "", Doc: f.tag.Get("doc")}
		if !k.Required {
			k.Default = defaultText(f.value)
		}
		keys = addKeysBelow(append(keys, k), k.Key, f.value)
	}
	return keys
}

// addKeysBelow lists the keys of a struct behind a pointer or in a list, too.
func addKeysBelow(keys []Key, path string, v reflect.Value) []Key {
	t := v.Type()
	switch {
	case knownByName(t):
		return keys
	case t.Kind() == reflect.Struct:
		return addKeys(keys, path, v)
	case t.Kind() == reflect.Pointer:
		return addKeysBelow(keys, path, fresh(t.Elem()).Elem())
	case t.Kind() == reflect.Slice:
		return addKeysBelow(keys, path+"[]", reflect.New(t.Elem()).Elem())
	}
	return keys
}

// knownByName says that the decoder knows a type by name.
func knownByName(t reflect.Type) bool {
	switch t {
	case promptRefType, schemaRefType, guardRefType, templateType, filterRefType, agentRefType, modelRefType, durationType, valueType, rawType, anyValueType:
		return true
	}
	return false
}

// kindOf says in a few words what a key takes.
func kindOf(f field) string {
	if enum := f.tag.Get("enum"); enum != "" {
		return "`" + strings.ReplaceAll(enum, "|", "`, `") + "`"
	}
	if takes := f.tag.Get("takes"); takes != "" {
		return takes
	}
	if words := f.tag.Get("words"); words != "" {
		return "`" + strings.ReplaceAll(words, "|", "`, `") + "`, or an expression"
	}
	return typeWord(f.value.Type())
}

func typeWord(t reflect.Type) string {
	switch t {
	case promptRefType:
		return "prompt"
	case schemaRefType:
		return "JSON Schema"
	case guardRefType:
		return "expression"
	case templateType:
		return "template"
	case filterRefType:
		return "JSONPath"
	case agentRefType:
		return "file of a spec"
	case modelRefType:
		return "name of an llm"
	case durationType:
		return "duration"
	case anyValueType:
		return "any value, texts as templates"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeWord(t.Elem())
	case reflect.Slice:
		return "list of " + typeWord(t.Elem())
	case reflect.Struct, reflect.Map:
		return "mapping"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "`true`, `false`"
	case reflect.Interface:
		return "any value"
	case reflect.Float64:
		return "number"
	default:
		return "whole number"
	}
}
