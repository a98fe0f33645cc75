package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	spec "github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/lsp/language"
)

// values offers possible values: words, names, files.
func (c *completer) values(sp cursor) {
	shapes := c.language.Of(sp.node)
	kind := nameKind(sp.node, language.Meaning(shapes))
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

// words offers the words of the schema: enums, constants, booleans, examples.
func (c *completer) words(sp cursor, shapes []*language.Schema) {
	for _, s := range shapes {
		docs := s.At("enumDescriptions")
		if e := s.At("enum"); e != nil {
			for i, it := range e.Items {
				item := completionItem{Label: it.Value, Kind: kindValue}
				if docs != nil && i < len(docs.Items) {
					item.Documentation = markdownOf(docs.Items[i].Value)
				}
				c.add(item, it.Value, sp.from, sp.to)
			}
		}
		if w := s.At("const"); w != nil {
			c.add(completionItem{Label: w.Value, Kind: kindValue}, w.Value, sp.from, sp.to)
		}
	}
	for _, s := range shapes {
		if firstType([]*language.Schema{s}) == "boolean" {
			c.add(completionItem{Label: "true", Kind: kindValue}, "true", sp.from, sp.to)
			c.add(completionItem{Label: "false", Kind: kindValue}, "false", sp.from, sp.to)
		}
		if e := s.At("examples"); e != nil {
			for _, it := range e.Items {
				c.add(completionItem{Label: it.Value, Kind: kindValue}, it.Value, sp.from, sp.to)
			}
		}
		if d := s.At("default"); d != nil && firstType([]*language.Schema{s}) != "boolean" {
			c.add(completionItem{Label: d.Value, Kind: kindValue, Detail: "default"}, d.Value, sp.from, sp.to)
		}
	}
}

// names offers the defined names of a kind.
func (c *completer) names(sp cursor, kind, before string) {
	for _, u := range c.all(c.workspace, kind) {
		c.add(completionItem{Label: before + u.name, Kind: kindModule, Detail: c.summary(u)}, quoteFor(sp, before+u.name), sp.from, sp.to)
	}
	if kind != "node" {
		return
	}
	if len(c.all(c.workspace, "node")) == 0 {
		for _, role := range spec.Roles {
			c.add(completionItem{Label: role, Kind: kindModule}, role, sp.from, sp.to)
		}
	}
	if sp.node.Key == "to" {
		c.add(completionItem{Label: "end", Kind: kindModule, Detail: "the end of the graph"}, "end", sp.from, sp.to)
	}
}

// quoteFor quotes a name that YAML would not read as text.
func quoteFor(sp cursor, name string) string {
	if strings.HasPrefix(name, "#") && sp.node.Style != '"' && sp.node.Style != '\'' {
		return `"` + name + `"`
	}
	return name
}

// components offers the types of tools, which the schema does not list as words.
func (c *completer) components(sp cursor) {
	if !sp.node.Match("tools.?.type") && !sp.node.Match("tools.?.use") {
		return
	}
	if sp.node.Key == "type" {
		c.add(completionItem{Label: "builtin", Kind: kindValue}, "builtin", sp.from, sp.to)
	}
	for _, f := range c.options.Spec.Catalog.Tools {
		c.add(completionItem{Label: f.Type, Kind: kindValue, Documentation: markdownOf(f.Doc)}, f.Type, sp.from, sp.to)
	}
}

// maxEntries is the maximum number of files to read in a folder.
const maxEntries = 1000

// files offers the files near a document, by relative path.
func (c *completer) files(sp cursor) {
	typed := sp.written()
	folder := typed[:strings.LastIndexByte(typed, '/')+1]
	path := c.projectPath(c.buffer, folder+"x")
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
