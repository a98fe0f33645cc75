package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/text"
)

// maxItems bounds the items of one answer.
const maxItems = 500

func (s *server) completion(_ context.Context, p *atPosition) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buffers[p.TextDocument.URI]
	if b == nil {
		return nil, nil
	}
	c := &completer{server: s, at: b.text.offset(p.Position), buffer: b, family: s.family(b)}
	c.complete()
	return completionList{IsIncomplete: len(c.items) >= maxItems, Items: append([]completionItem{}, c.items...)}, nil
}

// completer gathers the items of one place.
type completer struct {
	*server
	buffer *buffer
	family []*buffer
	at     int
	items  []completionItem
	seen   map[string]bool
}

func (c *completer) complete() {
	if c.inTemplate() {
		return
	}
	if !c.buffer.spec() {
		return
	}
	sp := spotAt(c.buffer, c.at)
	if x := c.expressionAt(c.buffer, c.family, c.at); x != nil {
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

// add adds an item that takes the place of a range.
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
		it.InsertTextMode = 2 // lines are indented as the first
	}
	c.items = append(c.items, it)
}

func markdownOf(text string) *markup {
	if text == "" {
		return nil
	}
	return &markup{"markdown", text}
}

// keys offers the keys that a mapping does not have yet, those that it must have
// first, and snippets of entries.
func (c *completer) keys(sp spot) {
	have := map[string]bool{}
	for _, k := range sp.node.kids {
		if c.at < k.keyFrom || c.at > k.keyTo {
			have[k.key] = true
		}
	}
	keys := c.language.keys(sp.node)
	slices.SortStableFunc(keys, func(a, b keyShape) int { return int(weight(a)) - int(weight(b)) })
	for _, k := range keys {
		if have[k.name] {
			continue
		}
		shapes := c.language.expand(k.shape, &node{}, nil, 0)
		written := c.language.expand(k.shape, &node{text: "x"}, nil, 0)
		it := completionItem{Label: k.name, Kind: kindProperty, Detail: detail(shapes), Documentation: markdownOf(explained(shapes)), Deprecated: k.shape.says("deprecated") == "true"}
		if k.required {
			it.Detail += ", required"
		}
		c.add(it, c.keyText(sp, k.name, written), sp.from, sp.to)
	}
	c.entrySnippets(sp)
}

func weight(k keyShape) byte {
	if k.required {
		return 0
	}
	return 1
}

// keyText is a key as it is inserted: with its colon, and where a mapping or a
// list comes below it, on its way there.
func (c *completer) keyText(sp spot, name string, shapes []*shape) string {
	if rest := c.buffer.text.s[sp.to:]; strings.HasPrefix(strings.TrimLeft(rest, " "), ":") {
		return name
	}
	below := "\n  "
	if sp.item {
		below = "\n    "
	}
	switch first := firstType(shapes); {
	case sp.node.under("tools") && c.required(name) == "":
		return name + ": {}"
	case sp.node.style == '{' || first != "object" && first != "array":
		return name + ": "
	case first == "array":
		return name + ":" + below + "- "
	}
	return name + ":" + below
}

// firstType is the type that a value most likely has.
func firstType(shapes []*shape) string {
	for _, s := range shapes {
		if t := s.types(); len(t) > 0 {
			return t[0]
		}
		if s.at("enum") != nil {
			return "string"
		}
	}
	return ""
}

// detail names the types of a value, and its words.
func detail(shapes []*shape) string {
	for _, s := range shapes {
		if e := s.at("enum"); e != nil {
			words := make([]string, 0, len(e.items))
			for _, it := range e.items {
				words = append(words, it.word)
			}
			return strings.Join(words, " | ")
		}
	}
	if n := note(shapes); n.says("is") != "" {
		return n.says("is")
	}
	for _, s := range shapes {
		if t := s.types(); t != nil {
			return strings.Join(slices.DeleteFunc(slices.Clone(t), func(w string) bool { return w == "null" }), " or ")
		}
	}
	return ""
}

// explained is the doc of a value with its default and examples.
func explained(shapes []*shape) string {
	text := doc(shapes)
	if i := slices.IndexFunc(shapes, func(s *shape) bool { return s.at("default") != nil }); i >= 0 {
		text += "\n\nDefault: `" + shapes[i].says("default") + "`"
	}
	for _, s := range shapes {
		if e := s.at("examples"); e != nil {
			words := make([]string, 0, len(e.items))
			for _, it := range e.items {
				words = append(words, "`"+it.word+"`")
			}
			return text + "\n\nFor example: " + strings.Join(words, ", ")
		}
	}
	return text
}

var ignoring = text.Regexp(`#\s*pex:ignore\s+(?:PEX\d*\s*,\s*)*(\w*)$`)

// inComment offers the codes behind pex:ignore.
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
