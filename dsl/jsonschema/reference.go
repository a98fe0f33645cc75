package jsonschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Page is one page of the reference: a section of the language, or a component.
type Page struct {
	Group string // the group in the reference: language, nodes, providers, tools or checks
	Name  string // file name without extension, unique in the group
	Title string // heading text in Markdown
	About string // description in Markdown
	Keys  string // tables of its keys in Markdown; each after the first has a heading
}

// Text returns the page in Markdown.
func (p Page) Text() string {
	text := "# " + p.Title + "\n"
	if p.About != "" {
		text += "\n" + p.About + "\n"
	}
	return text + p.Keys
}

// Reference documents every key of the language and of the components, in the
// order of the reference. It reads the same structs as New.
func Reference(catalog engine.Catalog, checks component.Blueprints) []Page {
	pages := slices.Concat(specPages(), testPages(), serverPages())
	for _, f := range catalog.Nodes {
		pages = append(pages, componentPage("nodes", f.Type, f.Type, f.Doc, f.Config()))
	}
	for _, f := range catalog.Models {
		p := componentPage("providers", f.Type, "provider: "+f.Type, f.Doc, f.Config())
		p.Keys = strings.Replace(p.Keys, "\n|", "\nKeys of `options`:\n\n|", 1)
		pages = append(pages, p)
	}
	for _, f := range catalog.Tools {
		pages = append(pages, componentPage("tools", f.Type, f.Type, f.Doc, f.Config()))
	}
	for _, k := range checks {
		pages = append(pages, componentPage("checks", k.Type, "type: "+k.Type, k.Doc, k.Config()))
	}
	return pages
}

func componentPage(group, name, code, doc string, keys any) Page {
	return Page{Group: group, Name: name, Title: "`" + code + "`", About: doc, Keys: table(keys)}
}

func section(name, title, about string, tables ...string) Page {
	return Page{Group: "language", Name: name, Title: title, About: about, Keys: strings.Join(tables, "")}
}

// specPages document the sections of a spec.
func specPages() []Page {
	doc, entry := language.DefaultSpec(), language.DefaultLLM()
	return []Page{
		section("spec", "Spec", "The top-level keys of a spec (`kind: Agent`) and of a file of shared definitions (`kind: Library`).", table(&doc)),
		section("llms", "`llms.<name>`", "An LLM: a model of a provider, and how to call it. A node takes the same keys beside its `llm`, for that node only.", table(&entry)),
		section("tools", "`tools.<name>`", "The keys of every tool. The keys of its type are written beside them.", table(&language.Tool{})),
		section("guards", "`guards[]`", "A guard: an action that is taken when a condition holds.", table(&language.GuardRule{})),
		section("compaction", "`memory.compaction`",
			"The rules are tried in this order. Each runs if its condition is true after the rules before it.", table(&language.CompactionKeys{})),
		section("graph", "`graph`", "The nodes and edges of a custom graph.", table(&language.GraphKeys{}),
			below("`graph.nodes[]`", "The keys of the node's type are written beside these.", &language.NodeKeys{})),
	}
}

// testPages document tests, suites, and the keys of their checks.
func testPages() []Page {
	suite, dataset, baseline, check := language.DefaultSuite(), language.DatasetKeys{}, language.DefaultBaseline(), language.DefaultCheck()
	return []Page{
		section("tests", "Tests",
			"Tests are written under `tests` in the spec, in files of `kind: Tests` beside it or in `tests/`, and in `tests/<case>/case.yaml`, which holds one case.",
			below("A file of kind: Tests", "", &language.TestsKeys{}),
			below("`tests[]`", "A case. It renders prompts, runs the agent offline, or both.", &language.CaseKeys{}),
			below("`case.yaml`", "The keys of a case, and:", &language.CaseFileKeys{})),
		section("suite", "Suite", "The keys of an evaluation suite (`kind: Suite`).", table(&suite),
			below("`dataset`", "A string is the path of the file.", &dataset),
			below("`variants.<name>`", "", &language.VariantKeys{}),
			below("`judge`", "", &language.JudgeKeys{}),
			below("`embed`", "", &language.EmbedKeys{}),
			below("`gates[]`", "A string is an expression over `stats` and `baseline`.", &language.GateKeys{}),
			below("`baseline`", "A string is the git ref.", &baseline)),
		section("checks", "`checks[]`",
			"The keys of every check in tests and suites. The keys of its type are written beside them. A string is an expression: `{type: expr, that: ...}`.", table(&check)),
	}
}

// below returns a table with its own heading.
func below(title, about string, keys any) string {
	text := "\n## " + title + "\n"
	if about != "" {
		text += "\n" + about + "\n"
	}
	return text + table(keys)
}

// table lists the keys of a struct, and those of nested structs by their path.
func table(of any) string {
	keys := config.Keys(of)
	if len(keys) == 0 {
		return "\nNo keys of its own.\n"
	}
	var b strings.Builder
	b.WriteString("\n| key | type | default | description |\n| --- | --- | --- | --- |\n")
	for _, k := range keys {
		def := k.Default
		if k.Required {
			def = "*required*"
		} else if def != "" {
			def = "`" + strings.ReplaceAll(def, "|", `\|`) + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Key, k.Value, def, strings.ReplaceAll(k.Doc, "|", `\|`))
	}
	return b.String()
}
