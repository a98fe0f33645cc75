package lsp

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/lsp/outline"
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

// hoverAt returns the documentation of a place, and its range.
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
		if text := s.describeName(b, u); text != "" {
			return text, u.from, u.to
		}
	}
	if !b.spec() {
		return "", 0, 0
	}
	n := b.outline().Find(at)
	switch {
	case n == nil || n.Parent == nil:
		return "", 0, 0
	case n.OnKey(at):
		return s.keyDoc(b, n), n.KeyFrom, n.KeyTo
	case n.Kind == outline.Scalar:
		if x := s.expressionAt(b, s.workspace(b), at); x != nil {
			if text, from, to := x.doc(); text != "" {
				return text, from, to
			}
		}
		return s.wordDoc(n), n.From, n.To
	}
	return "", 0, 0
}

// describeName describes a name.
func (s *server) describeName(b *buffer, u *nameUse) string {
	if all := s.definitions(s.workspace(b), u.kind, u.name); len(all) > 0 {
		return s.describeDefinition(b, u, all[0])
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
	return fmt.Sprintf("parameter **%s**: built in, in templates of %s", u.name, strings.Join(in, ", "))
}

// describeDefinition describes the definition of a name.
func (s *server) describeDefinition(b *buffer, u *nameUse, d nameUse) string {
	text := fmt.Sprintf("%s **%s**", u.kind, u.name)
	if about := s.summary(d); about != "" {
		text += ": " + about
	}
	if about := d.node.Get("description").String(); about != "" {
		text += "\n\n" + about
	}
	if v := d.node.Get("default"); v != nil {
		text += "\n\nDefault: `" + d.buffer.text.s[v.From:v.To] + "`"
	}
	if d.buffer == b && d.from == u.from {
		return text
	}
	return text + fmt.Sprintf("\n\n[%s:%d](%s)", rel(b, d.buffer.path), d.buffer.text.position(d.from).Line+1, d.buffer.uri)
}

// summary describes a definition in a few words.
func (s *server) summary(u nameUse) string {
	n := u.node
	if n == nil {
		return ""
	}
	switch u.kind {
	case "llm":
		return strings.Trim(n.Get("provider").String()+" "+n.Get("model").String(), " ")
	case "tool":
		typ := n.Get("type").String()
		if typ == "" || typ == "builtin" {
			typ = u.name
			if other := n.Get("use").String(); other != "" {
				typ = other
			}
		}
		if f, ok := s.options.Spec.Catalog.Tools.Find(typ); ok {
			return f.Doc
		}
		return typ
	case "parameter":
		words := []string{n.Get("type").String()}
		if n.Get("required").String() == "true" {
			words = append(words, "required")
		}
		return strings.Trim(strings.Join(words, ", "), ", ")
	case "node":
		return n.Parent.Get("type").String()
	}
	return ""
}

// keyDoc returns the documentation of a key, with its resolved value and origin.
func (s *server) keyDoc(b *buffer, n *outline.Node) string {
	shapes := s.language.Of(n)
	text := documentation(shapes)
	if kind := detail(shapes); kind != "" {
		text = "**" + n.Key + "**: " + kind + "\n\n" + text
	}
	if at, ok := s.resolved(b, n.Path()); ok {
		text += fmt.Sprintf("\n\nValue: `%s` (%s)", strings.ReplaceAll(at.Value, "`", "'"), at.Origin)
	} else if n.Kind == outline.Mapping {
		text += s.defaultsBelow(b, n)
	}
	return strings.TrimSpace(text)
}

// resolved returns the resolved value of a path, with its origin relative to the
// document.
func (s *server) resolved(b *buffer, path string) (config.Origin, bool) {
	r := s.roots[b.path]
	if r == nil {
		return config.Origin{}, false
	}
	at, ok := r.origins[path]
	for _, f := range s.workspace(b) {
		at.Origin = strings.ReplaceAll(at.Origin, f.path+":", rel(b, f.path)+":")
	}
	return at, ok
}

// defaultsBelow lists the defaults within a section.
func (s *server) defaultsBelow(b *buffer, n *outline.Node) string {
	const most = 12
	r := s.roots[b.path]
	if r == nil {
		return ""
	}
	var lines []string
	for path, at := range r.origins {
		if at.Origin == "default" && strings.HasPrefix(path, n.Path()+".") {
			lines = append(lines, fmt.Sprintf("- %s: `%s`", strings.TrimPrefix(path, n.Path()+"."), strings.ReplaceAll(at.Value, "`", "'")))
		}
	}
	if sort.Strings(lines); len(lines) == 0 {
		return ""
	}
	return "\n\nDefault:\n\n" + strings.Join(lines[:min(most, len(lines))], "\n")
}

// wordDoc returns the documentation of a word used as a value.
func (s *server) wordDoc(n *outline.Node) string {
	for _, sh := range s.language.Of(n) {
		e, docs := sh.At("enum"), sh.At("enumDescriptions")
		if e == nil || docs == nil {
			continue
		}
		for i, it := range e.Items {
			if it.Value == n.Text && i < len(docs.Items) {
				return "**" + it.Value + "**: " + docs.Items[i].Value
			}
		}
	}
	if n.Match("tools.?.type") || n.Match("tools.?.use") {
		if f, ok := s.options.Spec.Catalog.Tools.Find(n.Text); ok {
			return "**" + f.Type + "**: " + f.Doc
		}
	}
	return ""
}
