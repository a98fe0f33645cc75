package dsl

import (
	"reflect"
	"regexp"
	"strconv"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// sections fills in what components decode, and what holds named entries.
func (s *schemer) sections(properties *syntax.Node) {
	section := func(key string, v *syntax.Node) { put(properties, key, v) }
	section("parameters", keyed(parameterPattern, parameterSchema()))
	section("prompts", named(s.of(reflect.ValueOf(&component.PromptRef{}).Elem(), "")))
	s.defs.Set("llm", syntax.Position{}, s.llms())
	section("llms", named(refTo("llm")))
	section("tools", s.tools())
	for _, f := range s.catalog.Nodes {
		s.defs.Set("node."+f.Type, syntax.Position{}, opened(s.config(f.Config())))
	}
	for _, role := range roles {
		if s.defs.Find("node."+role) != nil {
			section(role, closed(refTo("node."+role)))
		}
	}
	section("include", object("type", texts("array", "null"), "items", typed("string")))
	section("guards", object("type", texts("array", "null"), "items", guardSchema(s.structOf(&guardRule{}))))
	section("graph", orNull(s.graph()))
	compaction := s.structOf(&compactionKeys{})
	memory := properties.Get("memory").Get("properties")
	compaction.Set("minProperties", syntax.Position{}, number("1"))
	compaction.Set("description", syntax.Position{}, memory.Get("compaction").Get("description"))
	memory.Set("compaction", syntax.Position{}, compaction)
	section("kind", object("enum", texts(specfs.Kinds...), "enumDescriptions", texts(kindDocs()...)))
	section("tests", object("type", texts("array", "null"), "items", refTo("case")))
	section("evals", object("type", texts("array", "null"), "items", typed("string")))
}

// guardSchema adds which actions fit which places, as compiler.fitting does.
func guardSchema(rule *syntax.Node) *syntax.Node {
	put(rule.Get("properties"), "when", typed("string", "boolean"))
	at := func(places *syntax.Node) *syntax.Node { return object("properties", object("at", places)) }
	rule.Set("allOf", syntax.Position{}, array(
		when("do", string(engine.GuardDeny), at(object("const", word(string(engine.BeforeTool))))),
	))
	return rule
}

func (s *schemer) structOf(p any) *syntax.Node { return s.structs(config.Struct(p)) }

func (s *schemer) config(p any) *syntax.Node { return s.structs(config.Struct(p)) }

// opened leaves it to others to close a schema.
func opened(v *syntax.Node) *syntax.Node {
	v.Drop("additionalProperties")
	return v
}

// named is a section of entries whose names other parts refer to.
func named(entry *syntax.Node) *syntax.Node { return keyed(config.NamePattern, entry) }

func keyed(names *regexp.Regexp, entry *syntax.Node) *syntax.Node {
	return object("type", texts("object", "null"), "propertyNames", nameOf(names), "additionalProperties", entry)
}

// usableName is the schema of what compiler.usable takes.
func usableName() *syntax.Node { return nameOf(config.NamePattern) }

// nameOf is the schema of what compiler.fits takes.
func nameOf(pattern *regexp.Regexp) *syntax.Node {
	return object("pattern", word(pattern.String()), "maxLength", number(strconv.Itoa(config.MaxName)))
}

// when is an if/then on the value of a key.
func when(key, is string, then *syntax.Node) *syntax.Node {
	return object("if", object("properties", object(key, object("const", word(is))), "required", texts(key)), "then", then)
}

func (s *schemer) llms() *syntax.Node {
	k := defaultLLM()
	body := s.structOf(&k)
	cases := array()
	for _, f := range s.catalog.Models {
		options := s.config(f.Config())
		options.Set("description", syntax.Position{}, word("What "+f.Type+" alone has."))
		cases.Items = append(cases.Items, when("provider", f.Type, object("properties", object("options", options))))
	}
	oneOfTypes(body.Get("properties").Get("provider"), s.catalog.Models.List("provider"))
	put(body.Get("properties"), "api_key_env", object("type", texts("string", "null"), "pattern", word(envName.String()), "examples", texts("OPENAI_API_KEY")))
	if len(cases.Items) > 0 {
		body.Set("allOf", syntax.Position{}, cases)
	}
	return body
}

// tools are the common keys with those of the tool's type; an entry that has no
// type is the builtin of its name.
func (s *schemer) tools() *syntax.Node {
	common := opened(s.structOf(&tool{}))
	cases := array()
	byName := object()
	untyped := object("not", object("anyOf", array(object("required", texts("type")), object("required", texts("use")))))
	for _, f := range s.catalog.Tools {
		def := "tool." + f.Type
		s.defs.Set(def, syntax.Position{}, opened(s.config(f.Config())))
		cases.Items = append(cases.Items,
			when("type", f.Type, refTo(def)),
			object("if", object("properties", object("use", object("const", word(f.Type))), "required", texts("use")), "then", refTo(def)))
		byName.Set(f.Type, syntax.Position{}, closed(object("$ref", word("#/$defs/tool"), "allOf", array(object("if", untyped, "then", refTo(def))), "description", word(f.Doc))))
	}
	if len(cases.Items) > 0 {
		common.Set("allOf", syntax.Position{}, cases)
	}
	s.defs.Set("tool", syntax.Position{}, common)
	// The type of an entry that names none is in the spec that the file extends;
	// where it extends nothing strictTools wants one.
	ofBase := object("if", untyped, "then", object("additionalProperties", flag(true)))
	out := named(closed(object("$ref", word("#/$defs/tool"), "allOf", array(ofBase))))
	out.Set("properties", syntax.Position{}, byName)
	return out
}

func (s *schemer) graph() *syntax.Node {
	node := opened(s.structOf(&nodeKeys{}))
	id := usableName()
	id.Set("not", syntax.Position{}, object("const", word(engine.End)))
	put(node.Get("properties"), "id", id)
	cases := array()
	for _, f := range s.catalog.Nodes {
		// a role's node starts from the role's section, so nothing is required of it
		then := refTo("node." + f.Type)
		cases.Items = append(cases.Items, when("type", f.Type, then))
	}
	oneOfTypes(node.Get("properties").Get("type"), s.catalog.Nodes.List("node"))
	if len(cases.Items) > 0 {
		node.Set("allOf", syntax.Position{}, cases)
	}
	g := s.structOf(&graphKeys{})
	nodes := g.Get("properties").Get("nodes")
	nodes.Set("items", syntax.Position{}, closed(node))
	return g
}
