package lsp

import (
	"fmt"
	"strings"
)

// entrySnippets offers whole entries where names are the author's to choose:
// an llm, a tool of each type that must say something, a parameter.
func (c *completer) entrySnippets(sp spot) {
	if !c.snippets || sp.node.style == '{' {
		return
	}
	switch {
	case sp.node.under("llms"):
		c.snippet(sp, "new llm", "${1:main}:\n  provider: ${2:openai}\n  model: ${3:gpt-5.4-mini}", "a language model")
	case sp.node.under("parameters"):
		c.snippet(sp, "new parameter", "${1:name}:\n  type: ${2:string}\n  description: ${3:What it is for.}", "a typed input")
	case sp.node.under("prompts"):
		c.snippet(sp, "new prompt", "${1:name}: |\n  ${2:You are ...}", "a named text")
	case sp.node.under("tools"):
		for _, f := range c.options.Spec.Catalog.Tools {
			if body := c.required(f.Type); body != "" {
				c.snippet(sp, "new "+f.Type+" tool", "${1:name}:\n  type: "+f.Type+body, f.Doc)
			}
		}
	case sp.node.parent == nil && len(sp.node.kids) == 0:
		c.snippet(sp, "new agent", "apiVersion: pex/v1\nkind: Agent\nmetadata:\n  name: ${1:name}\nllms:\n  main:\n    provider: ${2:openai}\n    model: ${3:gpt-5.4-mini}\ntools:\n  clock: {}\n", "a whole agent")
	}
}

func (c *completer) snippet(sp spot, label, body, about string) {
	c.add(completionItem{Label: label, Kind: kindSnippet, Detail: about, InsertTextFormat: 2, FilterText: strings.TrimPrefix(label, "new ") + " " + label}, body, sp.from, sp.to)
}

// required lists the keys that a type of tool must have, as lines of a snippet.
func (c *completer) required(typ string) string {
	entry := &node{kind: mapping, kids: []*node{{key: "type", text: typ}}}
	tools := &node{kind: mapping, key: "tools", parent: &node{kind: mapping}}
	tools.parent.kids = []*node{tools}
	entry.key, entry.parent = "x", tools
	tools.kids = []*node{entry}
	var b strings.Builder
	place := 1
	for _, k := range c.language.keys(entry) {
		if !k.required || k.name == "type" || k.name == "use" {
			continue
		}
		place++
		if firstType([]*shape{k.shape}) == "array" {
			fmt.Fprintf(&b, "\n  %s: [${%d}]", k.name, place)
		} else {
			fmt.Fprintf(&b, "\n  %s: ${%d}", k.name, place)
		}
	}
	return b.String()
}
