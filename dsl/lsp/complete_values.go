package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// values offers what may stand as a value: words, names, files.
func (c *completer) values(sp spot) {
	shapes := c.language.of(sp.node)
	kind := nameKind(sp.node, note(shapes))
	switch kind {
	case "file":
		c.files(sp)
		return
	case "agent":
		c.names(sp, "agent", "#")
		c.files(sp)
		return
	case "llm", "tool", "prompt", "node":
		c.names(sp, kind, "")
	}
	c.words(sp, shapes)
	c.components(sp)
}

// words offers the words of the schema: enums, constants, true and false,
// examples.
func (c *completer) words(sp spot, shapes []*shape) {
	for _, s := range shapes {
		docs := s.at("enumDescriptions")
		if e := s.at("enum"); e != nil {
			for i, it := range e.items {
				item := completionItem{Label: it.word, Kind: kindValue}
				if docs != nil && i < len(docs.items) {
					item.Documentation = markdownOf(docs.items[i].word)
				}
				c.add(item, it.word, sp.from, sp.to)
			}
		}
		if w := s.at("const"); w != nil {
			c.add(completionItem{Label: w.word, Kind: kindValue}, w.word, sp.from, sp.to)
		}
	}
	for _, s := range shapes {
		if firstType([]*shape{s}) == "boolean" {
			c.add(completionItem{Label: "true", Kind: kindValue}, "true", sp.from, sp.to)
			c.add(completionItem{Label: "false", Kind: kindValue}, "false", sp.from, sp.to)
		}
		if e := s.at("examples"); e != nil {
			for _, it := range e.items {
				c.add(completionItem{Label: it.word, Kind: kindValue}, it.word, sp.from, sp.to)
			}
		}
		if d := s.at("default"); d != nil && firstType([]*shape{s}) != "boolean" {
			c.add(completionItem{Label: d.word, Kind: kindValue, Detail: "default"}, d.word, sp.from, sp.to)
		}
	}
}

// names offers the names that are defined of a kind.
func (c *completer) names(sp spot, kind, before string) {
	for _, u := range c.all(c.family, kind) {
		c.add(completionItem{Label: before + u.name, Kind: kindModule, Detail: c.summary(u)}, quotedIn(sp, before+u.name), sp.from, sp.to)
	}
	if kind != "node" {
		return
	}
	if len(c.all(c.family, "node")) == 0 {
		for _, role := range []string{"planner", "executor", "reflector", "finalizer"} {
			c.add(completionItem{Label: role, Kind: kindModule}, role, sp.from, sp.to)
		}
	}
	if sp.node.key == "to" {
		c.add(completionItem{Label: "end", Kind: kindModule, Detail: "the end of the graph"}, "end", sp.from, sp.to)
	}
}

// quotedIn quotes what YAML would not take for text.
func quotedIn(sp spot, name string) string {
	if strings.HasPrefix(name, "#") && sp.node.style != '"' && sp.node.style != '\'' {
		return `"` + name + `"`
	}
	return name
}

// components offers the types of tools, which are no words of the schema.
func (c *completer) components(sp spot) {
	if !sp.node.under("tools.?.type") && !sp.node.under("tools.?.use") {
		return
	}
	if sp.node.key == "type" {
		c.add(completionItem{Label: "builtin", Kind: kindValue}, "builtin", sp.from, sp.to)
	}
	for _, f := range c.options.Spec.Catalog.Tools {
		c.add(completionItem{Label: f.Type, Kind: kindValue, Documentation: markdownOf(f.Doc)}, f.Type, sp.from, sp.to)
	}
}

// maxEntries bounds the files of a folder that are looked at.
const maxEntries = 1000

// files offers the files beside a document, as it would name them.
func (c *completer) files(sp spot) {
	typed := sp.written()
	folder := typed[:strings.LastIndexByte(typed, '/')+1]
	path := c.near(c.buffer, folder+"x")
	if path == "" {
		return
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(maxEntries)
	names := make(map[string]bool, len(entries))
	var order []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && e.Name() != filepath.Base(c.buffer.path) {
			names[e.Name()] = e.IsDir()
			order = append(order, e.Name())
		}
	}
	slices.Sort(order)
	for _, name := range order {
		if names[name] {
			c.add(completionItem{Label: folder + name + "/", Kind: kindFolder}, folder+name+"/", sp.from, sp.to)
		} else {
			c.add(completionItem{Label: folder + name, Kind: kindFile}, folder+name, sp.from, sp.to)
		}
	}
}
