package docscmd

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pexctl/pex/dsl/jsonschema"
	"github.com/pexctl/pex/internal/app/catalog"
)

// KeyPages returns the pages of the language and of every component, each with the
// keys that it takes.
func KeyPages(c *catalog.Catalog) []jsonschema.Page {
	return jsonschema.Reference(c.Catalog, c.Checks.Blueprints("check"))
}

// languagePages returns language/README.md and a page for each section of the
// language.
func languagePages(c *catalog.Catalog) []page {
	var index bytes.Buffer
	index.WriteString(generatedMark + "# Language\n\nThe keys of specs, tests and evaluation suites (`apiVersion: pex/v1`). " +
		"`pexctl schema` prints the same as JSON Schema. The keys of nodes, providers, tools and checks are on [their own pages](../components/README.md).\n\n| section | |\n| --- | --- |\n")
	pages := []page{{name: "language/README.md", title: "Language: the keys of specs, tests and suites"}}
	for _, p := range KeyPages(c) {
		if p.Group == "language" {
			fmt.Fprintf(&index, "| [%s](%s.md) | %s |\n", p.Title, p.Name, p.About)
			pages = append(pages, page{name: "language/" + p.Name + ".md", text: []byte(generatedMark + p.Text())})
		}
	}
	pages[0].text = index.Bytes()
	return pages
}

// componentPages returns components/README.md and a page for each component.
func componentPages(c *catalog.Catalog) []page {
	var index bytes.Buffer
	index.WriteString(generatedMark + "# Components\n\nThe nodes, providers, tools and checks that a spec can name. `pexctl list` prints the same in short.\n")
	pages := []page{{name: "components/README.md", title: "Components: nodes, providers, tools and checks, with their keys"}}
	group := "language"
	for _, p := range KeyPages(c) {
		if p.Group == "language" {
			continue
		}
		if p.Group != group {
			group = p.Group
			fmt.Fprintf(&index, "\n## %s\n\n| | |\n| --- | --- |\n", strings.ToUpper(group[:1])+group[1:])
		}
		name := p.Group + "/" + p.Name + ".md"
		fmt.Fprintf(&index, "| [`%s`](%s) | %s |\n", p.Name, name, firstSentence(p.About))
		pages = append(pages, page{name: "components/" + name, text: []byte(generatedMark + p.Text())})
	}
	pages[0].text = index.Bytes()
	return pages
}

// firstSentence returns a text up to its first full stop before a space.
func firstSentence(text string) string {
	if first, _, ok := strings.Cut(text, ". "); ok {
		return first + "."
	}
	return text
}
