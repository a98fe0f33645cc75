package lsp

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/text"
)

var codeName = text.Regexp(`PEX\d{3}`)

func (s *server) hover(_ context.Context, p *atPosition) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buffers[p.TextDocument.URI]
	if b == nil {
		return nil, nil
	}
	at := b.text.offset(p.Position)
	text, from, to := s.hoverAt(b, at)
	if text == "" {
		return nil, nil
	}
	return hover{markup{"markdown", text}, b.text.span(from, to)}, nil
}

// hoverAt is what there is to say of a place, and of which range.
func (s *server) hoverAt(b *buffer, at int) (text string, from, to int) {
	start, line := b.text.line(at)
	for _, m := range codeName().FindAllStringIndex(line, -1) {
		if start+m[0] <= at && at <= start+m[1] && strings.Contains(line[:m[0]], "pex:ignore") {
			if e, ok := diag.Explain(line[m[0]:m[1]]); ok {
				return fmt.Sprintf("**%s**: %s\n\n%s", e.Code, e.Title, e.Meaning), start + m[0], start + m[1]
			}
		}
	}
	if u := s.find(b, at); u != nil && u.kind != "file" {
		if text := s.described(b, u); text != "" {
			return text, u.from, u.to
		}
	}
	if !b.spec() {
		return "", 0, 0
	}
	n := b.outline().find(at)
	switch {
	case n == nil || n.parent == nil:
		return "", 0, 0
	case n.onKey(at):
		return s.keyDoc(b, n), n.keyFrom, n.keyTo
	case n.kind == scalar:
		if x := s.expressionAt(b, s.family(b), at); x != nil {
			if text, from, to := x.doc(); text != "" {
				return text, from, to
			}
		}
		return s.wordDoc(n), n.from, n.to
	}
	return "", 0, 0
}

// described says what a name means.
func (s *server) described(b *buffer, u *use) string {
	if all := s.definitions(s.family(b), u.kind, u.name); len(all) > 0 {
		return s.defined(b, u, all[0])
	}
	if u.kind != "parameter" {
		return ""
	}
	var in []string
	for template, names := range engine.PromptNames {
		if slices.Contains(names, u.name) {
			in = append(in, template)
		}
	}
	if len(in) == 0 {
		return ""
	}
	sort.Strings(in)
	return fmt.Sprintf("parameter **%s**: the engine's own, in templates of %s", u.name, strings.Join(in, ", "))
}

// defined says what stands where a name is defined.
func (s *server) defined(b *buffer, u *use, d use) string {
	text := fmt.Sprintf("%s **%s**", u.kind, u.name)
	if about := s.summary(d); about != "" {
		text += ": " + about
	}
	if about := d.node.get("description").string(); about != "" {
		text += "\n\n" + about
	}
	if v := d.node.get("default"); v != nil {
		text += "\n\nDefault: `" + d.buffer.text.s[v.from:v.to] + "`"
	}
	if d.buffer == b && d.from == u.from {
		return text
	}
	return text + fmt.Sprintf("\n\n[%s:%d](%s)", rel(b, d.buffer.path), d.buffer.text.position(d.from).Line+1, d.buffer.uri)
}

// summary says in a few words what a definition is.
func (s *server) summary(u use) string {
	n := u.node
	if n == nil {
		return ""
	}
	switch u.kind {
	case "llm":
		return strings.Trim(n.get("provider").string()+" "+n.get("model").string(), " ")
	case "tool":
		typ := n.get("type").string()
		if typ == "" || typ == "builtin" {
			typ = u.name
			if other := n.get("use").string(); other != "" {
				typ = other
			}
		}
		if f, ok := s.options.Spec.Catalog.Tools.Find(typ); ok {
			return f.Doc
		}
		return typ
	case "parameter":
		words := []string{n.get("type").string()}
		if n.get("required").string() == "true" {
			words = append(words, "required")
		}
		return strings.Trim(strings.Join(words, ", "), ", ")
	case "node":
		return n.parent.get("type").string()
	}
	return ""
}

// keyDoc is the doc of a key, with what its value is in the end and where that
// comes from.
func (s *server) keyDoc(b *buffer, n *node) string {
	shapes := s.language.of(n)
	text := explained(shapes)
	if kind := detail(shapes); kind != "" {
		text = "**" + n.key + "**: " + kind + "\n\n" + text
	}
	if at, ok := s.resolved(b, n.path()); ok {
		text += fmt.Sprintf("\n\nValue: `%s` (%s)", strings.ReplaceAll(at.Value, "`", "'"), at.Origin)
	} else if n.kind == mapping {
		text += s.defaultsBelow(b, n)
	}
	return strings.TrimSpace(text)
}

// resolved is the value of a path in the end, with its origin as seen from the
// document.
func (s *server) resolved(b *buffer, path string) (config.Origin, bool) {
	r := s.roots[b.path]
	if r == nil {
		return config.Origin{}, false
	}
	at, ok := r.origins[path]
	for _, f := range s.family(b) {
		at.Origin = strings.ReplaceAll(at.Origin, f.path+":", rel(b, f.path)+":")
	}
	return at, ok
}

// defaultsBelow lists the values below a section that nobody wrote.
func (s *server) defaultsBelow(b *buffer, n *node) string {
	const most = 12
	r := s.roots[b.path]
	if r == nil {
		return ""
	}
	var lines []string
	for path, at := range r.origins {
		if at.Origin == "default" && strings.HasPrefix(path, n.path()+".") {
			lines = append(lines, fmt.Sprintf("- %s: `%s`", strings.TrimPrefix(path, n.path()+"."), strings.ReplaceAll(at.Value, "`", "'")))
		}
	}
	if sort.Strings(lines); len(lines) == 0 {
		return ""
	}
	return "\n\nBy default:\n\n" + strings.Join(lines[:min(most, len(lines))], "\n")
}

// wordDoc is the doc of a word that stands as a value.
func (s *server) wordDoc(n *node) string {
	for _, sh := range s.language.of(n) {
		e, docs := sh.at("enum"), sh.at("enumDescriptions")
		if e == nil || docs == nil {
			continue
		}
		for i, it := range e.items {
			if it.word == n.text && i < len(docs.items) {
				return "**" + it.word + "**: " + docs.items[i].word
			}
		}
	}
	if n.under("tools.?.type") || n.under("tools.?.use") {
		if f, ok := s.options.Spec.Catalog.Tools.Find(n.text); ok {
			return "**" + f.Type + "**: " + f.Doc
		}
	}
	return ""
}
