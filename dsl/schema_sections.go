package dsl

import (
	"reflect"
	"regexp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// sections fills in what components decode, and what holds named entries.
func (s *schemer) sections(properties *value) {
	section := func(key string, v *value) { put(properties, key, v) }
	section("parameters", keyed(parameterPattern, parameterSchema()))
	section("prompts", named(s.of(reflect.ValueOf(&component.PromptRef{}).Elem(), "")))
	s.defs.set("llm", place{}, s.llms())
	section("llms", named(refTo("llm")))
	section("tools", s.tools())
	for _, f := range s.catalog.Nodes {
		s.defs.set("node."+f.Type, place{}, opened(s.config(f.Config())))
	}
	for _, role := range roles {
		if s.defs.find("node."+role) != nil {
			section(role, closed(refTo("node."+role)))
		}
	}
	section("include", object("type", texts("array", "null"), "items", typed("string")))
	section("guards", object("type", texts("array", "null"), "items", guardSchema(s.structOf(&guardRule{}))))
	section("graph", orNull(s.graph()))
	compaction := s.structOf(&compactionKeys{})
	memory := properties.get("memory").get("properties")
	compaction.set("minProperties", place{}, number("1"))
	compaction.set("description", place{}, memory.get("compaction").get("description"))
	memory.set("compaction", place{}, compaction)
	section("kind", object("enum", texts(kinds...), "enumDescriptions", texts(kindDocs()...)))
	section("tests", object("type", texts("array", "null"), "items", refTo("case")))
	section("evals", object("type", texts("array", "null"), "items", typed("string")))
}

// guardSchema adds which actions fit which places, as compiler.fitting does.
func guardSchema(rule *value) *value {
	put(rule.get("properties"), "when", typed("string", "boolean"))
	at := func(places *value) *value { return object("properties", object("at", places)) }
	rule.set("allOf", place{}, array(
		when("do", string(engine.GuardDeny), at(object("const", word(string(engine.BeforeTool))))),
	))
	return rule
}

func (s *schemer) structOf(p any) *value { return s.structs(target(p)) }

func (s *schemer) config(p any) *value { return s.structs(target(p)) }

// opened leaves it to others to close a schema.
func opened(v *value) *value {
	v.drop("additionalProperties")
	return v
}

// named is a section of entries whose names other parts refer to.
func named(entry *value) *value { return keyed(namePattern, entry) }

func keyed(names *regexp.Regexp, entry *value) *value {
	return object("type", texts("object", "null"), "propertyNames", nameOf(names), "additionalProperties", entry)
}

// usableName is the schema of what compiler.usable takes.
func usableName() *value { return nameOf(namePattern) }

// nameOf is the schema of what compiler.fits takes.
func nameOf(pattern *regexp.Regexp) *value {
	return object("pattern", word(pattern.String()), "maxLength", number(itoa(maxName)))
}

// when is an if/then on the value of a key.
func when(key, is string, then *value) *value {
	return object("if", object("properties", object(key, object("const", word(is))), "required", texts(key)), "then", then)
}

func (s *schemer) llms() *value {
	k := defaultLLM()
	body := s.structOf(&k)
	cases := array()
	for _, f := range s.catalog.Models {
		options := s.config(f.Config())
		options.set("description", place{}, word("What "+f.Type+" alone has."))
		cases.items = append(cases.items, when("provider", f.Type, object("properties", object("options", options))))
	}
	oneOfTypes(body.get("properties").get("provider"), s.catalog.Models.List("provider"))
	put(body.get("properties"), "api_key_env", object("type", texts("string", "null"), "pattern", word(envName.String()), "examples", texts("OPENAI_API_KEY")))
	if len(cases.items) > 0 {
		body.set("allOf", place{}, cases)
	}
	return body
}

// tools are the common keys with those of the tool's type; an entry that has no
// type is the builtin of its name.
func (s *schemer) tools() *value {
	common := opened(s.structOf(&tool{}))
	cases := array()
	byName := object()
	untyped := object("not", object("anyOf", array(object("required", texts("type")), object("required", texts("use")))))
	for _, f := range s.catalog.Tools {
		def := "tool." + f.Type
		s.defs.set(def, place{}, opened(s.config(f.Config())))
		cases.items = append(cases.items,
			when("type", f.Type, refTo(def)),
			object("if", object("properties", object("use", object("const", word(f.Type))), "required", texts("use")), "then", refTo(def)))
		byName.set(f.Type, place{}, closed(object("$ref", word("#/$defs/tool"), "allOf", array(object("if", untyped, "then", refTo(def))), "description", word(f.Doc))))
	}
	if len(cases.items) > 0 {
		common.set("allOf", place{}, cases)
	}
	s.defs.set("tool", place{}, common)
	// The type of an entry that names none is in the spec that the file extends;
	// where it extends nothing strictTools wants one.
	ofBase := object("if", untyped, "then", object("additionalProperties", flag(true)))
	out := named(closed(object("$ref", word("#/$defs/tool"), "allOf", array(ofBase))))
	out.set("properties", place{}, byName)
	return out
}

func (s *schemer) graph() *value {
	node := opened(s.structOf(&nodeKeys{}))
	id := usableName()
	id.set("not", place{}, object("const", word(engine.End)))
	put(node.get("properties"), "id", id)
	cases := array()
	for _, f := range s.catalog.Nodes {
		// a role's node starts from the role's section, so nothing is required of it
		then := refTo("node." + f.Type)
		cases.items = append(cases.items, when("type", f.Type, then))
	}
	oneOfTypes(node.get("properties").get("type"), s.catalog.Nodes.List("node"))
	if len(cases.items) > 0 {
		node.set("allOf", place{}, cases)
	}
	g := s.structOf(&graphKeys{})
	nodes := g.get("properties").get("nodes")
	nodes.set("items", place{}, closed(node))
	return g
}
