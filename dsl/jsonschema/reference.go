package jsonschema

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Reference is the language in Markdown tables: every section, and every
// provider, tool, node and check that there is, from the same structs as Schema.
func Reference(catalog engine.Catalog, checks component.Blueprints) []byte {
	var b strings.Builder
	doc, entry := language.DefaultSpec(), language.DefaultLLM()
	b.WriteString("# The language (" + language.Version + ")\n\nMade from the code; `pexctl schema` prints the same as JSON Schema.\n")
	table(&b, "## A spec", "", &doc)
	table(&b, "## `llms.<name>`", "A role takes the same keys beside its `llm`, for itself alone.", &entry)
	table(&b, "## `tools.<name>`", "Keys of every tool; those of its type stand beside them.", &language.Tool{})
	table(&b, "## `guards[]`", "", &language.GuardRule{})
	table(&b, "## `memory.compaction`", "The rules that are written are tried in this order, each when its condition holds on what the ones before it left.", &language.CompactionKeys{})
	table(&b, "## `graph`", "", &language.GraphKeys{})
	table(&b, "### `graph.nodes[]`", "With the keys of the node's type.", &language.NodeKeys{})
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
	suite, dataset, held, check := language.DefaultSuite(), language.DatasetKeys{}, language.DefaultBaseline(), language.DefaultCheck()
	table(b, "## A file of kind: Tests", "Tests stand in the spec (`tests`), in files of kind: Tests beside it or in `tests/`, and in `tests/<case>/case.yaml`, which holds one case.", &language.TestsKeys{})
	table(b, "### `tests[]`", "A case; it renders prompts, runs the agent offline, or both.", &language.CaseKeys{})
	table(b, "### `case.yaml`", "The keys of a case, and:", &language.CaseFileKeys{})
	table(b, "## A file of kind: Suite", "", &suite)
	table(b, "### `dataset`", "Text alone is the file.", &dataset)
	table(b, "### `variants.<name>`", "", &language.VariantKeys{})
	table(b, "### `judge`", "", &language.JudgeKeys{})
	table(b, "### `embed`", "", &language.EmbedKeys{})
	table(b, "### `gates[]`", "Text alone is an expression over `stats` and `baseline`.", &language.GateKeys{})
	table(b, "### `baseline`", "Text alone is the ref.", &held)
	table(b, "## `checks[]`", "Keys of every check of tests and suites; those of its type stand beside them. Text alone is an expression: `{type: expr, that: ...}`.", &check)
}

// table writes the keys of one struct, those of structs in it with their path.
func table(b *strings.Builder, title, about string, of any) {
	fmt.Fprintf(b, "\n%s\n", title)
	if about != "" {
		fmt.Fprintf(b, "\n%s\n", about)
	}
	keys := config.Keys(of)
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
