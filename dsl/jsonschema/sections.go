package jsonschema

import (
	"reflect"
	"regexp"
	"strconv"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// sections completes the keys that components decode and the sections of named
// entries.
func (s *writer) sections(properties *syntax.Node) {
	section := func(key string, v *syntax.Node) { put(properties, key, v) }
	section("parameters", keyed(language.ParameterPattern(), parameterSchema()))
	section("prompts", named(s.of(reflect.ValueOf(&component.PromptRef{}).Elem(), "")))
	s.defs.Set("llm", syntax.Position{}, s.llms())
	section("llms", named(refTo("llm")))
	section("tools", s.tools())
	for _, f := range s.catalog.Nodes {
		s.defs.Set("node."+f.Type, syntax.Position{}, leftOpen(s.config(f.Config())))
	}
	for _, role := range language.Roles {
		if s.defs.Find("node."+role) != nil {
			section(role, closed(refTo("node."+role)))
		}
	}
	section("include", syntax.NewMap("type", syntax.NewTexts("array", "null"), "items", typed("string")))
	section("guards", syntax.NewMap("type", syntax.NewTexts("array", "null"), "items", guardSchema(s.structOf(&language.GuardRule{}))))
	section("graph", orNull(s.graph()))
	compaction := s.structOf(&language.CompactionKeys{})
	memory := properties.Get("memory").Get("properties")
	compaction.Set("minProperties", syntax.Position{}, number("1"))
	compaction.Set("description", syntax.Position{}, memory.Get("compaction").Get("description"))
	memory.Set("compaction", syntax.Position{}, compaction)
	section("kind", syntax.NewMap("enum", syntax.NewTexts(specfs.Kinds...), "enumDescriptions", syntax.NewTexts(kindDocs()...)))
	section("tests", syntax.NewMap("type", syntax.NewTexts("array", "null"), "items", refTo("case")))
	section("evals", syntax.NewMap("type", syntax.NewTexts("array", "null"), "items", typed("string")))
}

// guardSchema restricts actions to their places, like compiler.checkGuardAction.
func guardSchema(rule *syntax.Node) *syntax.Node {
	put(rule.Get("properties"), "when", typed("string", "boolean"))
	put(rule.Get("properties"), "approvers", typed("string", "null"))
	at := func(places *syntax.Node) *syntax.Node {
		return syntax.NewMap("properties", syntax.NewMap("at", places))
	}
	rule.Set("allOf", syntax.Position{}, syntax.NewList(
		when("do", string(engine.GuardDeny), at(syntax.NewMap("const", syntax.NewText(string(engine.BeforeTool))))),
	))
	return rule
}

func (s *writer) structOf(p any) *syntax.Node { return s.structs(config.Struct(p)) }

func (s *writer) config(p any) *syntax.Node { return s.structs(config.Struct(p)) }

// leftOpen removes additionalProperties from a schema that another schema closes.
func leftOpen(v *syntax.Node) *syntax.Node {
	v.Drop("additionalProperties")
	return v
}

// named returns the schema of a section of entries whose names other parts refer
// to.
func named(entry *syntax.Node) *syntax.Node { return keyed(config.NamePattern(), entry) }

func keyed(names *regexp.Regexp, entry *syntax.Node) *syntax.Node {
	return syntax.NewMap("type", syntax.NewTexts("object", "null"), "propertyNames", nameOf(names), "additionalProperties", entry)
}

// usableName returns the schema of the names that compiler.usable accepts.
func usableName() *syntax.Node { return nameOf(config.NamePattern()) }

// nameOf returns the schema of the names that compiler.fits accepts.
func nameOf(pattern *regexp.Regexp) *syntax.Node {
	return syntax.NewMap("pattern", syntax.NewText(pattern.String()), "maxLength", number(strconv.Itoa(config.MaxName)))
}

// when returns an if/then on the value of a key.
func when(key, is string, then *syntax.Node) *syntax.Node {
	return syntax.NewMap("if", syntax.NewMap("properties", syntax.NewMap(key, syntax.NewMap("const", syntax.NewText(is))), "required", syntax.NewTexts(key)), "then", then)
}

func (s *writer) llms() *syntax.Node {
	k := language.DefaultLLM()
	body := s.structOf(&k)
	cases := syntax.NewList()
	for _, f := range s.catalog.Models {
		options := s.config(f.Config())
		options.Set("description", syntax.Position{}, syntax.NewText("Options of the provider "+f.Type+"."))
		cases.Items = append(cases.Items, when("provider", f.Type, syntax.NewMap("properties", syntax.NewMap("options", options))))
	}
	oneOfTypes(body.Get("properties").Get("provider"), s.catalog.Models.List("provider"))
	put(body.Get("properties"), "api_key_env", syntax.NewMap("type", syntax.NewTexts("string", "null"), "pattern", syntax.NewText(language.EnvName().String()), "examples", syntax.NewTexts("OPENAI_API_KEY")))
	if len(cases.Items) > 0 {
		body.Set("allOf", syntax.Position{}, cases)
	}
	return body
}

// tools combines the common keys with those of the tool's type. An entry without
// a type is the builtin with its name.
func (s *writer) tools() *syntax.Node {
	common := leftOpen(s.structOf(&language.Tool{}))
	cases := syntax.NewList()
	byName := syntax.NewMap()
	untyped := syntax.NewMap("not", syntax.NewMap("anyOf", syntax.NewList(syntax.NewMap("required", syntax.NewTexts("type")), syntax.NewMap("required", syntax.NewTexts("use")))))
	for _, f := range s.catalog.Tools {
		def := "tool." + f.Type
		s.defs.Set(def, syntax.Position{}, leftOpen(s.config(f.Config())))
		cases.Items = append(cases.Items,
			when("type", f.Type, refTo(def)),
			syntax.NewMap("if", syntax.NewMap("properties", syntax.NewMap("use", syntax.NewMap("const", syntax.NewText(f.Type))), "required", syntax.NewTexts("use")), "then", refTo(def)))
		byName.Set(f.Type, syntax.Position{}, closed(syntax.NewMap("$ref", syntax.NewText("#/$defs/tool"), "allOf", syntax.NewList(syntax.NewMap("if", untyped, "then", refTo(def))), "description", syntax.NewText(f.Doc))))
	}
	if len(cases.Items) > 0 {
		common.Set("allOf", syntax.Position{}, cases)
	}
	s.defs.Set("tool", syntax.Position{}, common)
	// The type of an entry without one is in the spec that the file extends. If it
	// extends nothing, strictTools requires one.
	ofBase := syntax.NewMap("if", untyped, "then", syntax.NewMap("additionalProperties", flag(true)))
	out := named(closed(syntax.NewMap("$ref", syntax.NewText("#/$defs/tool"), "allOf", syntax.NewList(ofBase))))
	out.Set("properties", syntax.Position{}, byName)
	return out
}

func (s *writer) graph() *syntax.Node {
	node := leftOpen(s.structOf(&language.NodeKeys{}))
	id := usableName()
	id.Set("not", syntax.Position{}, syntax.NewMap("const", syntax.NewText(engine.End)))
	put(node.Get("properties"), "id", id)
	cases := syntax.NewList()
	for _, f := range s.catalog.Nodes {
		// A node of a role starts with the role's section, so nothing is required of
		// it.
		then := refTo("node." + f.Type)
		cases.Items = append(cases.Items, when("type", f.Type, then))
	}
	oneOfTypes(node.Get("properties").Get("type"), s.catalog.Nodes.List("node"))
	if len(cases.Items) > 0 {
		node.Set("allOf", syntax.Position{}, cases)
	}
	g := s.structOf(&language.GraphKeys{})
	nodes := g.Get("properties").Get("nodes")
	nodes.Set("items", syntax.Position{}, closed(node))
	return g
}
