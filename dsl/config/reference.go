package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
)

// RawType is the type of fields that accept any value as JSON.
var RawType = reflect.TypeFor[json.RawMessage]()

// reference decodes the types that the decoder handles by name, and reports
// whether this is one of them. The struct decodes a ModelRef, with the keys
// beside it.
func (c *Decoder) reference(v *syntax.Node, path string, tag reflect.StructTag, to reflect.Value) bool {
	switch to.Type() {
	case ValueType:
		to.Set(reflect.ValueOf(v))
	case RawType:
		to.SetBytes(v.AppendJSON(nil))
	case DurationType:
		to.SetInt(int64(c.duration(v, path, tag)))
	case SizeType:
		to.SetInt(int64(c.size(v, path, tag)))
	case PromptRefType:
		c.promptRef(v, path, tag, to.Addr().Interface().(*component.PromptRef))
	case TemplateType:
		if c.AsText(v, path) {
			t := to.Addr().Interface().(*component.Template)
			t.Text = v.Text
			t.Bind(c.template(v, tag).Render)
		}
	case AnyValueType:
		if tag.Get("path") == "program" {
			c.rebaseProgram(v)
		}
		c.ValueRef(v, tag, to.Addr().Interface().(*component.Value))
	case SchemaRefType:
		c.schemaRef(v, path, to.Addr().Interface().(*component.SchemaRef))
	case GuardRefType:
		if c.AsExpression(v, path) {
			c.guardRef(v, tag, to.Addr().Interface().(*component.GuardRef))
		}
	case FilterRefType:
		if c.AsText(v, path) {
			c.filterRef(v, to.Addr().Interface().(*component.FilterRef))
		}
	case AgentRefType:
		c.Language.AgentRef(v, path, to.Addr().Interface().(*component.AgentRef))
	default:
		return false
	}
	return true
}

// promptRef decodes a prompt: text, {file: ...} or {use: name}. The text of a
// file replaces the value in the tree, so that the resolved spec needs no file.
func (c *Decoder) promptRef(v *syntax.Node, path string, tag reflect.StructTag, p *component.PromptRef) {
	*p = component.PromptRef{}
	source, names := v, partials{}
	switch key, name := Pointer(v); key {
	case "file":
		p.File = name
		if !c.InlineFile(v, name) {
			return
		}
	case "use":
		p.Use = name
		names.chain = []string{name}
		if source = c.namedPrompt(v, name); source == nil {
			return
		}
		if c.InlinePrompts {
			*v = *source
		}
	default:
		if !c.AsPrompt(v, path) {
			return
		}
	}
	p.Text = source.Text
	t := c.promptTemplate(source, tag, &names)
	if c.InlinePrompts {
		*v = *names.inlined(v)
	}
	p.Bind(t.Render, t.Names())
	c.addPrompt(PromptUse{Path: path, Value: source, Use: p.Use, References: t.Names(), Fixed: tag.Get("fork") == "fixed"})
}

// AsPrompt converts a value to the text of a prompt, or reports that it is not
// one.
func (c *Decoder) AsPrompt(v *syntax.Node, path string) bool {
	if v.Kind != syntax.Map {
		if v.Kind == syntax.Text && fileLike().MatchString(v.Text) {
			c.Report.Warn(diag.NearMiss, v.Position, "%s is the text %s, not the contents of the file with that name", path, syntax.Quote(v.Text)).
				Hint = "write {file: " + v.Text + "}"
		}
		return c.AsText(v, path)
	}
	c.WrongType(v, path, "a prompt").Hint = "write the text, {file: PATH} or {use: PROMPT}"
	return false
}

// fileLike matches a text that is probably the name of a file with a prompt.
var fileLike = text.Regexp(`^[\w./-]+\.(?:md|markdown|txt|prompt|j2|jinja2?|tmpl|mustache)$`)

// Pointer returns the key and name of {file: x} and {use: x}.
func Pointer(v *syntax.Node) (key, name string) {
	if v.Kind != syntax.Map || len(v.Entries) != 1 {
		return "", ""
	}
	e := v.Entries[0]
	if (e.Key == "file" || e.Key == "use") && e.Value.Kind == syntax.Text {
		return e.Key, e.Value.Text
	}
	return "", ""
}

// InlineFile replaces a value by the text of a file.
func (c *Decoder) InlineFile(v *syntax.Node, name string) bool {
	src := c.Open(v.Entries[0].Value, name)
	if src == nil {
		return false
	}
	*v = syntax.Node{Position: syntax.Position{Source: src, Line: 1, Column: 1}, Kind: syntax.Text, Style: syntax.Literal, Text: string(src.Text)}
	return true
}

// Open reads a file that a value names, or reports why it cannot. The file must
// be UTF-8.
func (c *Decoder) Open(v *syntax.Node, name string) *syntax.Source {
	src, no := c.Files.Read(v.Source, name)
	if no != nil {
		c.ReportRefusal(v.Position, no)
		return nil
	}
	src.NamedAt = v.Position
	c.ReadPaths = append(c.ReadPaths, src.Path)
	if !utf8.Valid(src.Text) {
		c.Report.Error(diag.Unreadable, v.Position, "%s is not valid UTF-8", name)
		return nil
	}
	c.Report.HiddenText(src)
	return src
}

// namedPrompt returns an entry of prompts with its file read, or nil after
// reporting an error.
func (c *Decoder) namedPrompt(v *syntax.Node, name string) *syntax.Node {
	e := c.Language.NamedPrompts().Find(name)
	if e == nil {
		c.Report.Error(diag.UnknownPrompt, v.Position, "undefined prompt %s", syntax.Quote(name)).Advice = diag.Suggest(name, c.Language.NamedPrompts().Keys())
		return nil
	}
	c.Used["prompts."+name] = true
	if e.Value.Kind != syntax.Text {
		return nil // reported with the section
	}
	return e.Value
}

// schemaRef decodes a JSON Schema: inline, {file: ...} or {use: name}.
func (c *Decoder) schemaRef(v *syntax.Node, path string, s *component.SchemaRef) {
	source := v
	switch key, name := Pointer(v); key {
	case "file":
		s.File = name
		src := c.Open(v.Entries[0].Value, name)
		if src == nil {
			return
		}
		tree := syntax.Parse(src, c.Report)
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
		c.addPrompt(PromptUse{Path: path, Value: p, Use: name, Fixed: true, Part: true})
		if source = syntax.Parse(textOf(p), c.Report); source == nil {
			return
		}
	}
	if source.Kind != syntax.Map && source.Kind != syntax.Bool {
		c.WrongType(source, path, "a JSON Schema").Hint = "write the schema or {file: PATH}"
		return
	}
	s.JSON = source.AppendJSON(nil)
	c.BindSchema(source, s)
}

// textOf returns the text of a value as a separate source.
func textOf(v *syntax.Node) *syntax.Source {
	return &syntax.Source{Name: v.Source.Name, Path: v.Source.Path, Kind: v.Source.Kind, Text: []byte(v.Text)}
}

// AsExpression is like AsText, for an expression, which may be the literal true.
func (c *Decoder) AsExpression(v *syntax.Node, path string) bool {
	if v.Kind == syntax.Bool {
		v.Kind = syntax.Text
	}
	if v.Kind == syntax.List || v.Kind == syntax.Map {
		c.WrongType(v, path, "an expression").Hint = "quote it: 'run.tokens > 1000'"
		return false
	}
	return c.AsText(v, path)
}

// BindDefaults compiles the references in the defaults of a Config.
func (c *Decoder) BindDefaults(to reflect.Value, tag reflect.StructTag) {
	switch to.Type() {
	case PromptRefType:
		p := to.Addr().Interface().(*component.PromptRef)
		if !p.IsZero() {
			t := c.template(c.BuiltIn(p.Text), tag)
			p.Bind(t.Render, t.Names())
		}
		return
	case TemplateType:
		t := to.Addr().Interface().(*component.Template)
		if t.Text != "" {
			t.Bind(c.template(c.BuiltIn(t.Text), tag).Render)
		}
		return
	case GuardRefType:
		g := to.Addr().Interface().(*component.GuardRef)
		if !g.IsZero() {
			c.guardRef(c.BuiltIn(g.Source), tag, g)
		}
		return
	case SchemaRefType:
		s := to.Addr().Interface().(*component.SchemaRef)
		if !s.IsZero() {
			c.BindSchema(c.BuiltIn(string(s.JSON)), s)
		}
		return
	case FilterRefType:
		f := to.Addr().Interface().(*component.FilterRef)
		if !f.IsZero() {
			c.filterRef(c.BuiltIn(f.Source), f)
		}
		return
	}
	if to.Kind() == reflect.Struct {
		fields, _ := Fields([]reflect.Value{to})
		for _, f := range fields {
			c.BindDefaults(f.Value, f.Tag)
		}
	}
}

// BuiltIn returns a node for a text that is not in any file.
func (c *Decoder) BuiltIn(s string) *syntax.Node {
	return &syntax.Node{Position: syntax.Position{Source: &syntax.Source{Name: "built in", Kind: syntax.Resolved}}, Kind: syntax.Text, Text: s}
}

// inlineFiles reads the file of a field tagged file:"key" and merges its content:
// a list is appended under that key, a mapping adds its keys.
func (c *Decoder) inlineFiles(v *syntax.Node, path string, fields []Field) {
	for _, f := range fields {
		key := f.Tag.Get("file")
		e := v.Find(f.Key)
		if key == "" || e == nil || e.Value.Kind != syntax.Text {
			continue
		}
		src := c.Open(e.Value, e.Value.Text)
		if src == nil {
			continue
		}
		tree := syntax.Parse(src, c.Report)
		v.Drop(f.Key)
		if tree == nil {
			continue
		}
		if tree.Kind == syntax.List {
			tree = &syntax.Node{Position: tree.Position, Kind: syntax.Map, Entries: []*syntax.Entry{{Key: key, Position: tree.Position, Value: tree}}}
		}
		if tree.Kind != syntax.Map {
			c.WrongType(tree, path, "a list, or a mapping with the key "+key)
			continue
		}
		c.mergeBeside(v, tree, path)
	}
}

func (c *Decoder) mergeBeside(v, tree *syntax.Node, path string) {
	for _, e := range tree.Entries {
		below := v.Find(e.Key)
		switch {
		case below == nil || below.Value.Kind == syntax.Null:
			v.Set(e.Key, e.Position, e.Value)
		case below.Value.Kind == syntax.List && e.Value.Kind == syntax.List:
			below.Value.Items = append(below.Value.Items, e.Value.Items...)
		default:
			c.Report.Error(diag.IncludeClash, e.Position, "%s is already defined at %s", Join(path, e.Key), syntax.Where(below.Position)).
				Hint = "remove one of them"
		}
	}
}

// Words returns the alternatives of a tag.
func Words(tag string) []string {
	if tag == "" {
		return nil
	}
	return strings.Split(tag, "|")
}
