package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/lsp/language"
	"github.com/pexctl/pex/dsl/lsp/outline"
	"github.com/pexctl/pex/engine/text"
)

// maxItems is the maximum number of items of one response.
const maxItems = 500

func (s *server) completion(_ context.Context, p *atPosition) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buffers[p.TextDocument.URI]
	if b == nil {
		return nil, nil
	}
	c := &completer{server: s, at: b.text.offset(p.Position), buffer: b, workspace: s.workspace(b)}
	c.complete()
	return completionList{IsIncomplete: len(c.items) >= maxItems, Items: append([]completionItem{}, c.items...)}, nil
}

// completer collects the items for one place.
type completer struct {
	*server
	buffer    *buffer
	workspace []*buffer
	at        int
	items     []completionItem
	seen      map[string]bool
}

func (c *completer) complete() {
	if c.inTemplate() {
		return
	}
	if !c.buffer.spec() {
		return
	}
	sp := cursorAt(c.buffer, c.at)
	if x := c.expressionAt(c.buffer, c.workspace, c.at); x != nil {
		x.complete(c)
		if sp.key && sp.node == x.node { // an item that may become a mapping
			c.keys(sp)
		}
		return
	}
	if sp.node == nil {
		c.inComment()
		return
	}
	if sp.value {
		c.values(sp)
	}
	if sp.key {
		c.keys(sp)
	}
}

// add adds an item that replaces a range.
func (c *completer) add(it completionItem, insert string, from, to int) {
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if len(c.items) >= maxItems || c.seen[it.Label] {
		return
	}
	c.seen[it.Label] = true
	it.TextEdit = &textEdit{c.buffer.text.span(from, to), insert}
	it.SortText = fmt.Sprintf("%04d", len(c.items))
	if strings.Contains(insert, "\n") {
		it.InsertTextMode = 2 // adjust the indentation of lines
	}
	c.items = append(c.items, it)
}

func markdownOf(text string) *markup {
	if text == "" {
		return nil
	}
	return &markup{"markdown", text}
}

// keys offers the keys that a mapping does not have yet, required ones first, and
// snippets of entries.
func (c *completer) keys(sp cursor) {
	have := map[string]bool{}
	for _, k := range sp.node.Children {
		if c.at < k.KeyFrom || c.at > k.KeyTo {
			have[k.Key] = true
		}
	}
	keys := c.language.Keys(sp.node)
	slices.SortStableFunc(keys, func(a, b language.Key) int { return int(weight(a)) - int(weight(b)) })
	for _, k := range keys {
		if have[k.Name] {
			continue
		}
		shapes := c.language.Expand(k.Shape, &outline.Node{}, nil, 0)
		written := c.language.Expand(k.Shape, &outline.Node{Text: "x"}, nil, 0)
		it := completionItem{Label: k.Name, Kind: kindProperty, Detail: detail(shapes), Documentation: markdownOf(documentation(shapes)), Deprecated: k.Shape.Text("deprecated") == "true"}
		if k.Required {
			it.Detail += ", required"
		}
		c.add(it, c.keyText(sp, k.Name, written), sp.from, sp.to)
	}
	c.entrySnippets(sp)
}

func weight(k language.Key) byte {
	if k.Required {
		return 0
	}
	return 1
}

// keyText returns the text to insert for a key: with its colon, and with the
// start of a mapping or list below it.
func (c *completer) keyText(sp cursor, name string, shapes []*language.Schema) string {
	if rest := c.buffer.text.s[sp.to:]; strings.HasPrefix(strings.TrimLeft(rest, " "), ":") {
		return name
	}
	below := "\n  "
	if sp.item {
		below = "\n    "
	}
	switch first := firstType(shapes); {
	case sp.node.Match("tools") && c.required(name) == "":
		return name + ": {}"
	case sp.node.Style == '{' || first != "object" && first != "array":
		return name + ": "
	case first == "array":
		return name + ":" + below + "- "
	}
	return name + ":" + below
}

// firstType returns the most likely type of a value.
func firstType(shapes []*language.Schema) string {
	for _, s := range shapes {
		if t := s.Types(); len(t) > 0 {
			return t[0]
		}
		if s.At("enum") != nil {
			return "string"
		}
	}
	return ""
}

// detail returns the types of a value, and its words.
func detail(shapes []*language.Schema) string {
	for _, s := range shapes {
		if e := s.At("enum"); e != nil {
			words := make([]string, 0, len(e.Items))
			for _, it := range e.Items {
				words = append(words, it.Value)
			}
			return strings.Join(words, " | ")
		}
	}
	if n := language.Meaning(shapes); n.Text("is") != "" {
		return n.Text("is")
	}
	for _, s := range shapes {
		if t := s.Types(); t != nil {
			return strings.Join(slices.DeleteFunc(slices.Clone(t), func(w string) bool { return w == "null" }), " or ")
		}
	}
	return ""
}

// documentation returns the documentation of a value with its default and examples.
func documentation(shapes []*language.Schema) string {
	text := language.Description(shapes)
	if i := slices.IndexFunc(shapes, func(s *language.Schema) bool { return s.At("default") != nil }); i >= 0 {
		text += "\n\nDefault: `" + shapes[i].Text("default") + "`"
	}
	for _, s := range shapes {
		if e := s.At("examples"); e != nil {
			words := make([]string, 0, len(e.Items))
			for _, it := range e.Items {
				words = append(words, "`"+it.Value+"`")
			}
			return text + "\n\nFor example: " + strings.Join(words, ", ")
		}
	}
	return text
}

var ignoring = text.Regexp(`#\s*pex:ignore\s+(?:PEX\d*\s*,\s*)*(\w*)$`)

// inComment offers the codes after pex:ignore.
func (c *completer) inComment() {
	start, line := c.buffer.text.line(c.at)
	m := ignoring().FindStringSubmatch(line[:c.at-start])
	if m == nil {
		return
	}
	for _, code := range diag.Codes() {
		c.add(completionItem{Label: string(code.Code), Kind: kindValue, Detail: code.Title}, string(code.Code)+" ", c.at-len(m[1]), c.at)
	}
}

// entrySnippets offers complete entries in sections where the author chooses the
// names: an LLM, a tool of each type with required keys, a parameter.
func (c *completer) entrySnippets(sp cursor) {
	if !c.snippets || sp.node.Style == '{' {
		return
	}
	switch {
	case sp.node.Match("llms"):
		c.snippet(sp, "new llm", "${1:main}:\n  provider: ${2:openai}\n  model: ${3:gpt-5.4-mini}", "a language model")
	case sp.node.Match("parameters"):
		c.snippet(sp, "new parameter", "${1:name}:\n  type: ${2:string}\n  description: ${3:What it is for.}", "a typed input")
	case sp.node.Match("prompts"):
		c.snippet(sp, "new prompt", "${1:name}: |\n  ${2:You are ...}", "a named prompt")
	case sp.node.Match("tools"):
		for _, f := range c.options.Spec.Catalog.Tools {
			if body := c.required(f.Type); body != "" {
				c.snippet(sp, "new "+f.Type+" tool", "${1:name}:\n  type: "+f.Type+body, f.Doc)
			}
		}
	case sp.node.Parent == nil && len(sp.node.Children) == 0:
		c.snippet(sp, "new agent", "apiVersion: pex/v1\nkind: Agent\nmetadata:\n  name: ${1:name}\nllms:\n  main:\n    provider: ${2:openai}\n    model: ${3:gpt-5.4-mini}\ntools:\n  clock: {}\n", "a complete agent")
	}
}

func (c *completer) snippet(sp cursor, label, body, about string) {
	c.add(completionItem{Label: label, Kind: kindSnippet, Detail: about, InsertTextFormat: 2, FilterText: strings.TrimPrefix(label, "new ") + " " + label}, body, sp.from, sp.to)
}

// required returns the keys that a type of tool requires, as lines of a snippet.
func (c *completer) required(typ string) string {
	entry := &outline.Node{Kind: outline.Mapping, Children: []*outline.Node{{Key: "type", Text: typ}}}
	tools := &outline.Node{Kind: outline.Mapping, Key: "tools", Parent: &outline.Node{Kind: outline.Mapping}}
	tools.Parent.Children = []*outline.Node{tools}
	entry.Key, entry.Parent = "x", tools
	tools.Children = []*outline.Node{entry}
	var b strings.Builder
	place := 1
	for _, k := range c.language.Keys(entry) {
		if !k.Required || k.Name == "type" || k.Name == "use" {
			continue
		}
		place++
		if firstType([]*language.Schema{k.Shape}) == "array" {
			fmt.Fprintf(&b, "\n  %s: [${%d}]", k.Name, place)
		} else {
			fmt.Fprintf(&b, "\n  %s: ${%d}", k.Name, place)
		}
	}
	return b.String()
}
