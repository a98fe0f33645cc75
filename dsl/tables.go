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
	var rows []string
	rows = addRows(rows, "", target(config))
	if len(rows) == 0 {
		b.WriteString("\nNo keys of its own.\n")
		return
	}
	b.WriteString("\n| key | value | default | |\n| --- | --- | --- | --- |\n")
	for _, r := range rows {
		b.WriteString(r)
	}
}

func addRows(rows []string, path string, v reflect.Value) []string {
	fields, _ := fieldsOf([]reflect.Value{v})
	for _, f := range fields {
		key := join(path, f.key)
		def := defaultText(f.value)
		if f.tag.Get("required") != "" {
			def = "*required*"
		} else if def != "" {
			def = "`" + strings.ReplaceAll(def, "|", `\|`) + "`"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n", key, kindOf(f), def, strings.ReplaceAll(f.tag.Get("doc"), "|", `\|`)))
		rows = addRowsBelow(rows, key, f.value)
	}
	return rows
}

// addRowsBelow writes the keys of a struct behind a pointer or in a list, too.
func addRowsBelow(rows []string, path string, v reflect.Value) []string {
	t := v.Type()
	switch {
	case knownByName(t):
		return rows
	case t.Kind() == reflect.Struct:
		return addRows(rows, path, v)
	case t.Kind() == reflect.Pointer:
		return addRowsBelow(rows, path, fresh(t.Elem()).Elem())
	case t.Kind() == reflect.Slice:
		return addRowsBelow(rows, path+"[]", reflect.New(t.Elem()).Elem())
	}
	return rows
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
