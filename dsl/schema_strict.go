package dsl

import (
	"slices"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// relax takes out of the parts that extends, agents and includes may lay over
// others what only the whole must have, and returns that for specs that are
// laid over nothing.
func (s *schemer) relax(body *syntax.Node) (whole *syntax.Node) {
	properties := body.Get("properties")
	strict := object()
	if r := taken(s.defs.Get("llm")); r != nil {
		strict.Set("llms", syntax.Position{}, object("additionalProperties", object("required", r)))
	}
	strict.Set("tools", syntax.Position{}, s.strictTools())
	if r := taken(properties.Get("metadata")); r != nil {
		strict.Set("metadata", syntax.Position{}, object("required", r))
	}
	if items := properties.Get("guards").Get("items"); items != nil {
		strict.Set("guards", syntax.Position{}, object("items", object("required", taken(items))))
	}
	return object("properties", strict)
}

// taken removes the key required of a schema and returns it; nil = it has none.
func taken(v *syntax.Node) *syntax.Node {
	r := v.Get("required")
	if r != nil {
		v.Drop("required")
		v.Set("type", syntax.Position{}, texts("object", "null"))
	}
	return r
}

// strictTools says what the entries of tools must have: a type where the name
// is no builtin's, and what the type requires.
func (s *schemer) strictTools() *syntax.Node {
	typed := object("anyOf", array(object("required", texts("type")), object("required", texts("use"))))
	builtin, cases := object(), array()
	for _, f := range s.catalog.Tools {
		required := taken(s.defs.Get("tool." + f.Type))
		if required == nil {
			builtin.Set(f.Type, syntax.Position{}, flag(true))
			continue
		}
		builtin.Set(f.Type, syntax.Position{}, object("if", object("not", typed), "then", object("required", required)))
		cases.Items = append(cases.Items, when("type", f.Type, object("required", required)), when("use", f.Type, object("required", required)))
	}
	entry := object("type", word("object"), "anyOf", typed.Get("anyOf"))
	if len(cases.Items) > 0 {
		entry.Set("allOf", syntax.Position{}, cases)
	}
	return object("properties", builtin, "additionalProperties", entry)
}

// agentFile is a file of kind Agent or Library.
func (s *schemer) agentFile(body *syntax.Node) *syntax.Node {
	strict := s.relax(body)
	properties := body.Get("properties")
	library := object()
	for _, e := range properties.Entries {
		if !slices.Contains(append([]string{"apiVersion", "kind", "metadata", "include"}, libraryKeys...), e.Key) {
			library.Set(e.Key, syntax.Position{}, flag(false))
		}
	}
	isLibrary := object("properties", object("kind", object("const", word(specfs.KindLibrary))), "required", texts("kind"))
	rules := array(choose(isLibrary, object("properties", library), object("required", texts("metadata"))))
	if properties.Get("extends") != nil {
		s.extending(properties)
		rules.Items = append(rules.Items, object("if", object("not", object("required", texts("extends"))), "then", strict))
	} else {
		rules.Items = append(rules.Items, strict)
	}
	body.Set("allOf", syntax.Position{}, rules)
	return body
}

// extending fills in the keys that lay specs over others.
func (s *schemer) extending(properties *syntax.Node) {
	put(properties, "extends", choose(object("type", word("string")), object(), s.structOf(&extendsKeys{})))
	inner := object()
	for _, e := range properties.Entries {
		if !slices.Contains(ofFile, e.Key) {
			inner.Set(e.Key, syntax.Position{}, object("$ref", word("#/$defs/agent/properties/"+e.Key), "description", e.Value.Get("description")))
		}
	}
	s.defs.Set("inner_agent", syntax.Position{}, object("type", texts("object", "null"), "properties", inner, "additionalProperties", flag(false)))
	put(properties, "agents", named(refTo("inner_agent")))
}
