package jsonschema

import (
	"slices"

	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// relax removes the requirements that apply only to a complete spec from the
// parts that extends, agents and includes may override. It returns them as a
// schema for specs without extends.
func (s *writer) relax(body *syntax.Node) (whole *syntax.Node) {
	properties := body.Get("properties")
	strict := syntax.NewMap()
	if r := takeRequired(s.defs.Get("llm")); r != nil {
		strict.Set("llms", syntax.Position{}, syntax.NewMap("additionalProperties", syntax.NewMap("required", r)))
	}
	strict.Set("tools", syntax.Position{}, s.strictTools())
	if r := takeRequired(properties.Get("metadata")); r != nil {
		strict.Set("metadata", syntax.Position{}, syntax.NewMap("required", r))
	}
	if items := properties.Get("guards").Get("items"); items != nil {
		strict.Set("guards", syntax.Position{}, syntax.NewMap("items", syntax.NewMap("required", takeRequired(items))))
	}
	return syntax.NewMap("properties", strict)
}

// takeRequired removes the key required of a schema and returns it, or nil if there is
// none.
func takeRequired(v *syntax.Node) *syntax.Node {
	r := v.Get("required")
	if r != nil {
		v.Drop("required")
		v.Set("type", syntax.Position{}, syntax.NewTexts("object", "null"))
	}
	return r
}

// strictTools returns the requirements for entries of tools: a type unless the
// name is that of a builtin, and the required keys of the type.
func (s *writer) strictTools() *syntax.Node {
	typed := syntax.NewMap("anyOf", syntax.NewList(syntax.NewMap("required", syntax.NewTexts("type")), syntax.NewMap("required", syntax.NewTexts("use"))))
	builtin, cases := syntax.NewMap(), syntax.NewList()
	for _, f := range s.catalog.Tools {
		required := takeRequired(s.defs.Get("tool." + f.Type))
		if required == nil {
			builtin.Set(f.Type, syntax.Position{}, flag(true))
			continue
		}
		builtin.Set(f.Type, syntax.Position{}, syntax.NewMap("if", syntax.NewMap("not", typed), "then", syntax.NewMap("required", required)))
		cases.Items = append(cases.Items, when("type", f.Type, syntax.NewMap("required", required)), when("use", f.Type, syntax.NewMap("required", required)))
	}
	entry := syntax.NewMap("type", syntax.NewText("object"), "anyOf", typed.Get("anyOf"))
	if len(cases.Items) > 0 {
		entry.Set("allOf", syntax.Position{}, cases)
	}
	return syntax.NewMap("properties", builtin, "additionalProperties", entry)
}

// agentFile returns the schema of a file of kind Agent or Library.
func (s *writer) agentFile(body *syntax.Node) *syntax.Node {
	strict := s.relax(body)
	properties := body.Get("properties")
	library := syntax.NewMap()
	for _, e := range properties.Entries {
		if !slices.Contains(append([]string{"apiVersion", "kind", "metadata", "include"}, language.LibraryKeys...), e.Key) {
			library.Set(e.Key, syntax.Position{}, flag(false))
		}
	}
	isLibrary := syntax.NewMap("properties", syntax.NewMap("kind", syntax.NewMap("const", syntax.NewText(specfs.KindLibrary))), "required", syntax.NewTexts("kind"))
	rules := syntax.NewList(choose(isLibrary, syntax.NewMap("properties", library), syntax.NewMap("required", syntax.NewTexts("metadata"))))
	if properties.Get("extends") != nil {
		s.extending(properties)
		rules.Items = append(rules.Items, syntax.NewMap("if", syntax.NewMap("not", syntax.NewMap("required", syntax.NewTexts("extends"))), "then", strict))
	} else {
		rules.Items = append(rules.Items, strict)
	}
	body.Set("allOf", syntax.Position{}, rules)
	return body
}

// extending completes the keys that merge specs.
func (s *writer) extending(properties *syntax.Node) {
	put(properties, "extends", choose(syntax.NewMap("type", syntax.NewText("string")), syntax.NewMap(), s.structOf(&language.ExtendsKeys{})))
	inner := syntax.NewMap()
	for _, e := range properties.Entries {
		if !slices.Contains(language.FileKeys, e.Key) {
			inner.Set(e.Key, syntax.Position{}, syntax.NewMap("$ref", syntax.NewText("#/$defs/agent/properties/"+e.Key), "description", e.Value.Get("description")))
		}
	}
	s.defs.Set("inner_agent", syntax.Position{}, syntax.NewMap("type", syntax.NewTexts("object", "null"), "properties", inner, "additionalProperties", flag(false)))
	put(properties, "agents", named(refTo("inner_agent")))
}
