package dsl

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/component"
)

var rawType = reflect.TypeFor[json.RawMessage]()

// reference decodes the types that the decoder knows by name; false = this is
// none of them. A ModelRef is decoded by its struct, with the keys beside it.
func (c *compiler) reference(v *syntax.Node, path string, tag reflect.StructTag, to reflect.Value) bool {
	switch to.Type() {
	case valueType:
		to.Set(reflect.ValueOf(v))
	case rawType:
		to.SetBytes(v.AppendJSON(nil))
	case durationType:
		to.SetInt(int64(c.duration(v, path, tag)))
	case promptRefType:
		c.promptRef(v, path, tag, to.Addr().Interface().(*component.PromptRef))
	case templateType:
		if c.asText(v, path) {
			t := to.Addr().Interface().(*component.Template)
			t.Text = v.Text
			t.Bind(c.template(v, tag).Render)
		}
	case anyValueType:
		if tag.Get("path") == "program" {
			c.rebaseProgram(v)
		}
		c.valueRef(v, tag, to.Addr().Interface().(*component.Value))
	case schemaRefType:
		c.schemaRef(v, path, to.Addr().Interface().(*component.SchemaRef))
	case guardRefType:
		if c.asSource(v, path) {
			c.guardRef(v, tag, to.Addr().Interface().(*component.GuardRef))
		}
	case filterRefType:
		if c.asText(v, path) {
			c.filterRef(v, to.Addr().Interface().(*component.FilterRef))
		}
	case agentRefType:
		c.agentRef(v, path, to.Addr().Interface().(*component.AgentRef))
	default:
		return false
	}
	return true
}

// promptRef reads a prompt: text, {file: ...} or {use: name}. A file's text
// takes its place in the tree, so that the resolved spec needs no file.
func (c *compiler) promptRef(v *syntax.Node, path string, tag reflect.StructTag, p *component.PromptRef) {
	*p = component.PromptRef{}
	source, names := v, partials{}
	switch key, name := pointer(v); key {
	case "file":
		p.File = name
		if !c.inlineText(v, name) {
			return
		}
	case "use":
		p.Use = name
		names.chain = []string{name}
		if source = c.namedPrompt(v, name); source == nil {
			return
		}
		if c.inlines {
			*v = *source
		}
	default:
		if !c.asPrompt(v, path) {
			return
		}
	}
	p.Text = source.Text
	t := c.promptTemplate(source, tag, &names)
	if c.inlines {
		*v = *names.inlined(v)
	}
	p.Bind(t.Render, t.Names())
}

func (c *compiler) asPrompt(v *syntax.Node, path string) bool {
	if v.Kind != syntax.Map {
		if v.Kind == syntax.Text && fileLike.MatchString(v.Text) {
			c.report.Warn(diag.NearMiss, v.Position, "%s is the text %s itself, not what a file of that name holds", path, syntax.Quote(v.Text)).
				Hint = "write {file: " + v.Text + "}"
		}
		return c.asText(v, path)
	}
	c.wrongType(v, path, "a prompt").Hint = "write the text, or {file: path}, or {use: name of a prompt}"
	return false
}

// fileLike is a text that is no prompt, but the name of a file with one.
var fileLike = regexp.MustCompile(`^[\w./-]+\.(?:md|markdown|txt|prompt|j2|jinja2?|tmpl|mustache)$`)

// pointer recognises {file: x} and {use: x}.
func pointer(v *syntax.Node) (key, name string) {
	if v.Kind != syntax.Map || len(v.Entries) != 1 {
		return "", ""
	}
	e := v.Entries[0]
	if (e.Key == "file" || e.Key == "use") && e.Value.Kind == syntax.Text {
		return e.Key, e.Value.Text
	}
	return "", ""
}

// inlineText puts the text of a file in a value's place.
func (c *compiler) inlineText(v *syntax.Node, name string) bool {
	src := c.open(v.Entries[0].Value, name)
	if src == nil {
		return false
	}
	*v = syntax.Node{Position: syntax.Position{Source: src, Line: 1, Column: 1}, Kind: syntax.Text, Style: syntax.Literal, Text: string(src.Text)}
	return true
}

// open reads a file that a value names, or reports why not. It must be UTF-8.
func (c *compiler) open(v *syntax.Node, name string) *syntax.Source {
	src, no := c.loader.files.Read(v.Source, name)
	if no != nil {
		c.loader.refuse(v.Position, no)
		return nil
	}
	src.NamedAt = v.Position
	c.loader.read = append(c.loader.read, src.Path)
	if !utf8.Valid(src.Text) {
		c.report.Error(diag.Unreadable, v.Position, "%s is not UTF-8 text", name)
		return nil
	}
	c.report.HiddenText(src)
	return src
}

// namedPrompt finds an entry of prompts, its file read; nil = reported.
func (c *compiler) namedPrompt(v *syntax.Node, name string) *syntax.Node {
	e := c.doc.Prompts.Find(name)
	if e == nil {
		c.report.Error(diag.UnknownPrompt, v.Position, "there is no prompt %s", syntax.Quote(name)).Advice = diag.Suggest(name, c.doc.Prompts.Keys())
		return nil
	}
	c.used["prompts."+name] = true
	if e.Value.Kind != syntax.Text {
		return nil // reported with the section
	}
	return e.Value
}

// schemaRef reads a JSON Schema: inline, {file: ...} or {use: name}.
func (c *compiler) schemaRef(v *syntax.Node, path string, s *component.SchemaRef) {
	source := v
	switch key, name := pointer(v); key {
	case "file":
		s.File = name
		src := c.open(v.Entries[0].Value, name)
		if src == nil {
			return
		}
		tree := syntax.Parse(src, c.report)
		if tree == nil {
			return
		}
		*v = *tree
	case "use":
		s.Use = name
		p := c.namedPrompt(v, name)
		if p == nil {
			return
		}
		if source = syntax.Parse(textOf(p), c.report); source == nil {
			return
		}
	}
	if source.Kind != syntax.Map && source.Kind != syntax.Bool {
		c.wrongType(source, path, "a JSON Schema").Hint = "write the schema, or {file: path}"
		return
	}
	s.JSON = source.AppendJSON(nil)
	c.bindSchema(source, s)
}

// textOf is the text of a value as a source of its own.
func textOf(v *syntax.Node) *syntax.Source {
	return &syntax.Source{Name: v.Source.Name, Path: v.Source.Path, Kind: v.Source.Kind, Text: []byte(v.Text)}
}

// asSource is asText for an expression, where `true` is one too.
func (c *compiler) asSource(v *syntax.Node, path string) bool {
	if v.Kind == syntax.Bool {
		v.Kind = syntax.Text
	}
	if v.Kind == syntax.List || v.Kind == syntax.Map {
		c.wrongType(v, path, "an expression").Hint = "quote it: 'run.tokens > 1000'"
		return false
	}
	return c.asText(v, path)
}

// bindDefaults compiles the references that a Config's defaults hold.
func (c *compiler) bindDefaults(to reflect.Value, tag reflect.StructTag) {
	switch to.Type() {
	case promptRefType:
		p := to.Addr().Interface().(*component.PromptRef)
		if !p.IsZero() {
			t := c.template(c.builtIn(p.Text), tag)
			p.Bind(t.Render, t.Names())
		}
		return
	case templateType:
		t := to.Addr().Interface().(*component.Template)
		if t.Text != "" {
			t.Bind(c.template(c.builtIn(t.Text), tag).Render)
		}
		return
	case guardRefType:
		g := to.Addr().Interface().(*component.GuardRef)
		if !g.IsZero() {
			c.guardRef(c.builtIn(g.Source), tag, g)
		}
		return
	case schemaRefType:
		s := to.Addr().Interface().(*component.SchemaRef)
		if !s.IsZero() {
			c.bindSchema(c.builtIn(string(s.JSON)), s)
		}
		return
	case filterRefType:
		f := to.Addr().Interface().(*component.FilterRef)
		if !f.IsZero() {
			c.filterRef(c.builtIn(f.Source), f)
		}
		return
	}
	if to.Kind() == reflect.Struct {
		fields, _ := fieldsOf([]reflect.Value{to})
		for _, f := range fields {
			c.bindDefaults(f.value, f.tag)
		}
	}
}

// builtIn is a text that no author wrote.
func (c *compiler) builtIn(s string) *syntax.Node {
	return &syntax.Node{Position: syntax.Position{Source: &syntax.Source{Name: "built in", Kind: syntax.Resolved}}, Kind: syntax.Text, Text: s}
}

// inlineFiles reads the file that a field tagged file:"key" names, and puts
// what it holds beside it: a list under that key, behind what is there, or the
// keys of a mapping.
func (c *compiler) inlineFiles(v *syntax.Node, path string, fields []field) {
	for _, f := range fields {
		key := f.tag.Get("file")
		e := v.Find(f.key)
		if key == "" || e == nil || e.Value.Kind != syntax.Text {
			continue
		}
		src := c.open(e.Value, e.Value.Text)
		if src == nil {
			continue
		}
		tree := syntax.Parse(src, c.report)
		v.Drop(f.key)
		if tree == nil {
			continue
		}
		if tree.Kind == syntax.List {
			tree = &syntax.Node{Position: tree.Position, Kind: syntax.Map, Entries: []*syntax.Entry{{Key: key, Position: tree.Position, Value: tree}}}
		}
		if tree.Kind != syntax.Map {
			c.wrongType(tree, path, "a list or a mapping with "+key)
			continue
		}
		c.addBeside(v, tree, path)
	}
}

func (c *compiler) addBeside(v, tree *syntax.Node, path string) {
	for _, e := range tree.Entries {
		below := v.Find(e.Key)
		switch {
		case below == nil || below.Value.Kind == syntax.Null:
			v.Set(e.Key, e.Position, e.Value)
		case below.Value.Kind == syntax.List && e.Value.Kind == syntax.List:
			below.Value.Items = append(below.Value.Items, e.Value.Items...)
		default:
			c.report.Error(diag.IncludeClash, e.Position, "%s is already written at %s", join(path, e.Key), syntax.Where(below.Position)).
				Hint = "remove one of them"
		}
	}
}

// words are the alternatives of a tag.
func words(tag string) []string {
	if tag == "" {
		return nil
	}
	return strings.Split(tag, "|")
}
