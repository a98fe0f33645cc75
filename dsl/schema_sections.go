package dsl

import (
	"reflect"

	"github.com/pexctl/pex/engine/component"
)

// sections fills in what components decode, and what holds named entries.
func (s *schemer) sections(properties *value) {
	put := func(key string, v *value) { put(properties, key, v) }
	put("parameters", named(object("type", texts("object", "null"))))
	put("prompts", named(s.of(reflect.ValueOf(&component.PromptRef{}).Elem(), "")))
	s.defs.set("llm", place{}, s.llms())
	put("llms", named(refTo("llm")))
	put("tools", s.tools())
	for _, f := range s.catalog.Nodes {
		s.defs.set("node."+f.Type, place{}, opened(s.config(f.Config())))
	}
	for _, role := range roles {
		if s.defs.find("node."+role) != nil {
			put(role, closed(refTo("node."+role)))
		}
	}
	put("guards", object("type", texts("array", "null"), "items", s.structOf(&guardRule{})))
	properties.get("guards").get("items").get("properties").set("when", place{}, typed("string", "boolean"))
	put("graph", s.graph())
	compaction := s.structOf(&compactionKeys{})
	memory := properties.get("memory").get("properties")
	compaction.set("description", place{}, memory.get("compaction").get("description"))
	memory.set("compaction", place{}, compaction)
	put("kind", object("enum", texts(kinds...)))
	put("tests", object("type", texts("array", "null"), "items", refTo("case")))
	put("evals", object("type", texts("array", "null"), "items", typed("string")))
}

func (s *schemer) structOf(p any) *value { return s.structs(target(p)) }

func (s *schemer) config(p any) *value { return s.structs(target(p)) }

// opened leaves it to others to close a schema.
func opened(v *value) *value {
	v.drop("additionalProperties")
	return v
}

func named(entry *value) *value {
	return object("type", texts("object", "null"), "additionalProperties", entry)
}

// when is an if/then on the value of a key.
func when(key, is string, then *value) *value {
	return object("if", object("properties", object(key, object("const", word(is))), "required", texts(key)), "then", then)
}

func (s *schemer) llms() *value {
	k := defaultLLM()
	body := s.structOf(&k)
	types, cases := array(), array()
	for _, f := range s.catalog.Models {
		types.items = append(types.items, word(f.Type))
		cases.items = append(cases.items, when("provider", f.Type, object("properties", object("options", s.config(f.Config())))))
	}
	if p := body.get("properties").get("provider"); len(types.items) > 0 {
		p.drop("type")
		p.set("enum", place{}, types)
	}
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
	for _, f := range s.catalog.Tools {
		def := "tool." + f.Type
		s.defs.set(def, place{}, opened(s.config(f.Config())))
		cases.items = append(cases.items,
			when("type", f.Type, refTo(def)),
			object("if", object("properties", object("use", object("const", word(f.Type))), "required", texts("use")), "then", refTo(def)))
		untyped := object("not", object("anyOf", array(object("required", texts("type")), object("required", texts("use")))))
		byName.set(f.Type, place{}, closed(object("$ref", word("#/$defs/tool"), "allOf", array(object("if", untyped, "then", refTo(def))), "description", word(f.Doc))))
	}
	if len(cases.items) > 0 {
		common.set("allOf", place{}, cases)
	}
	s.defs.set("tool", place{}, common)
	out := object("type", texts("object", "null"), "properties", byName)
	out.set("additionalProperties", place{}, closed(refTo("tool")))
	return out
}

func (s *schemer) graph() *value {
	node := opened(s.structOf(&nodeKeys{}))
	types, cases := array(), array()
	for _, f := range s.catalog.Nodes {
		types.items = append(types.items, word(f.Type))
		// a role's node starts from the role's section, so nothing is required of it
		then := refTo("node." + f.Type)
		cases.items = append(cases.items, when("type", f.Type, then))
	}
	if len(cases.items) > 0 {
		node.get("properties").get("type").set("enum", place{}, types)
		node.get("properties").get("type").drop("type")
		node.set("allOf", place{}, cases)
	}
	g := s.structOf(&graphKeys{})
	nodes := g.get("properties").get("nodes")
	nodes.set("items", place{}, closed(node))
	return g
}
