package dsl

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/component"
)

var rawType = reflect.TypeFor[json.RawMessage]()

// reference decodes the types that the decoder knows by name; false = this is
// none of them. A ModelRef is decoded by its struct, with the keys beside it.
func (c *compiler) reference(v *value, path string, tag reflect.StructTag, to reflect.Value) bool {
	switch to.Type() {
	case valueType:
		to.Set(reflect.ValueOf(v))
	case rawType:
		to.SetBytes(v.appendJSON(nil))
	case durationType:
		to.SetInt(int64(c.duration(v, path, tag)))
	case promptRefType:
		c.promptRef(v, path, tag, to.Addr().Interface().(*component.PromptRef))
	case templateType:
		if c.asText(v, path) {
			t := to.Addr().Interface().(*component.Template)
			t.Text = v.text
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
func (c *compiler) promptRef(v *value, path string, tag reflect.StructTag, p *component.PromptRef) {
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
	p.Text = source.text
	t := c.promptTemplate(source, tag, &names)
	if c.inlines {
		*v = *names.inlined(v)
	}
	p.Bind(t.Render, t.Names())
}

func (c *compiler) asPrompt(v *value, path string) bool {
	if v.kind != dict {
		if v.kind == text && fileLike.MatchString(v.text) {
			c.report.warn(diag.NearMiss, v.place, "%s is the text %s itself, not what a file of that name holds", path, quoted(v.text)).
				Hint = "write {file: " + v.text + "}"
		}
		return c.asText(v, path)
	}
	c.wrongType(v, path, "a prompt").Hint = "write the text, or {file: path}, or {use: name of a prompt}"
	return false
}

// fileLike is a text that is no prompt, but the name of a file with one.
var fileLike = regexp.MustCompile(`^[\w./-]+\.(?:md|markdown|txt|prompt|j2|jinja2?|tmpl|mustache)$`)

// pointer recognises {file: x} and {use: x}.
func pointer(v *value) (key, name string) {
	if v.kind != dict || len(v.entries) != 1 {
		return "", ""
	}
	e := v.entries[0]
	if (e.key == "file" || e.key == "use") && e.val.kind == text {
		return e.key, e.val.text
	}
	return "", ""
}

// inlineText puts the text of a file in a value's place.
func (c *compiler) inlineText(v *value, name string) bool {
	src := c.open(v.entries[0].val, name)
	if src == nil {
		return false
	}
	*v = value{place: place{src, 1, 1}, kind: text, style: literal, text: string(src.text)}
	return true
}

// open reads a file that a value names, or reports why not. It must be UTF-8.
func (c *compiler) open(v *value, name string) *source {
	src, no := c.loader.files.read(v.src, name)
	if no != nil {
		c.loader.refuse(v.place, no)
		return nil
	}
	src.named = v.place
	c.loader.read = append(c.loader.read, src.path)
	if !utf8.Valid(src.text) {
		c.report.error(diag.Unreadable, v.place, "%s is not UTF-8 text", name)
		return nil
	}
	c.report.unseen(src)
	return src
}

// namedPrompt finds an entry of prompts, its file read; nil = reported.
func (c *compiler) namedPrompt(v *value, name string) *value {
	e := c.doc.Prompts.find(name)
	if e == nil {
		c.report.error(diag.UnknownPrompt, v.place, "there is no prompt %s", quoted(name)).Advice = diag.Suggest(name, c.doc.Prompts.keys())
		return nil
	}
	c.used["prompts."+name] = true
	if e.val.kind != text {
		return nil // reported with the section
	}
	return e.val
}

// schemaRef reads a JSON Schema: inline, {file: ...} or {use: name}.
func (c *compiler) schemaRef(v *value, path string, s *component.SchemaRef) {
	source := v
	switch key, name := pointer(v); key {
	case "file":
		s.File = name
		src := c.open(v.entries[0].val, name)
		if src == nil {
			return
		}
		tree := parse(src, c.report)
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
		if source = parse(textOf(p), c.report); source == nil {
			return
		}
	}
	if source.kind != dict && source.kind != boolean {
		c.wrongType(source, path, "a JSON Schema").Hint = "write the schema, or {file: path}"
		return
	}
	s.JSON = source.appendJSON(nil)
	c.bindSchema(source, s)
}

// textOf is the text of a value as a source of its own.
func textOf(v *value) *source {
	return &source{name: v.src.name, path: v.src.path, kind: v.src.kind, text: []byte(v.text)}
}

// asSource is asText for an expression, where `true` is one too.
func (c *compiler) asSource(v *value, path string) bool {
	if v.kind == boolean {
		v.kind = text
	}
	if v.kind == list || v.kind == dict {
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
func (c *compiler) builtIn(s string) *value {
	return &value{place: place{src: &source{name: "built in", kind: resolved}}, kind: text, text: s}
}

// inlineFiles reads the file that a field tagged file:"key" names, and puts
// what it holds beside it: a list under that key, behind what is there, or the
// keys of a mapping.
func (c *compiler) inlineFiles(v *value, path string, fields []field) {
	for _, f := range fields {
		key := f.tag.Get("file")
		e := v.find(f.key)
		if key == "" || e == nil || e.val.kind != text {
			continue
		}
		src := c.open(e.val, e.val.text)
		if src == nil {
			continue
		}
		tree := parse(src, c.report)
		v.drop(f.key)
		if tree == nil {
			continue
		}
		if tree.kind == list {
			tree = &value{place: tree.place, kind: dict, entries: []*entry{{key, tree.place, tree}}}
		}
		if tree.kind != dict {
			c.wrongType(tree, path, "a list or a mapping with "+key)
			continue
		}
		c.addBeside(v, tree, path)
	}
}

func (c *compiler) addBeside(v, tree *value, path string) {
	for _, e := range tree.entries {
		below := v.find(e.key)
		switch {
		case below == nil || below.val.kind == null:
			v.set(e.key, e.place, e.val)
		case below.val.kind == list && e.val.kind == list:
			below.val.items = append(below.val.items, e.val.items...)
		default:
			c.report.error(diag.IncludeClash, e.place, "%s is already written at %s", join(path, e.key), where(below.place)).
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
