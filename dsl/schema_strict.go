package dsl

import "slices"

// relax takes out of the parts that extends, agents and includes may lay over
// others what only the whole must have, and returns that for specs that are
// laid over nothing.
func (s *schemer) relax(body *value) (whole *value) {
	properties := body.get("properties")
	strict := object()
	if r := taken(s.defs.get("llm")); r != nil {
		strict.set("llms", place{}, object("additionalProperties", object("required", r)))
	}
	strict.set("tools", place{}, s.strictTools())
	if r := taken(properties.get("metadata")); r != nil {
		strict.set("metadata", place{}, object("required", r))
	}
	if items := properties.get("guards").get("items"); items != nil {
		strict.set("guards", place{}, object("items", object("required", taken(items))))
	}
	return object("properties", strict)
}

// taken removes the key required of a schema and returns it; nil = it has none.
func taken(v *value) *value {
	r := v.get("required")
	if r != nil {
		v.drop("required")
		v.set("type", place{}, texts("object", "null"))
	}
	return r
}

// strictTools says what the entries of tools must have: a type where the name
// is no builtin's, and what the type requires.
func (s *schemer) strictTools() *value {
	typed := object("anyOf", array(object("required", texts("type")), object("required", texts("use"))))
	builtin, cases := object(), array()
	for _, f := range s.catalog.Tools {
		required := taken(s.defs.get("tool." + f.Type))
		if required == nil {
			builtin.set(f.Type, place{}, flag(true))
			continue
		}
		builtin.set(f.Type, place{}, object("if", object("not", typed), "then", object("required", required)))
		cases.items = append(cases.items, when("type", f.Type, object("required", required)), when("use", f.Type, object("required", required)))
	}
	entry := object("type", word("object"), "anyOf", typed.get("anyOf"))
	if len(cases.items) > 0 {
		entry.set("allOf", place{}, cases)
	}
	return object("properties", builtin, "additionalProperties", entry)
}

// agentFile is a file of kind Agent or Library.
func (s *schemer) agentFile(body *value) *value {
	strict := s.relax(body)
	properties := body.get("properties")
	library := object()
	for _, e := range properties.entries {
		if !slices.Contains(append([]string{"apiVersion", "kind", "metadata", "include"}, libraryKeys...), e.key) {
			library.set(e.key, place{}, flag(false))
		}
	}
	isLibrary := object("properties", object("kind", object("const", word(kindLibrary))), "required", texts("kind"))
	rules := array(choose(isLibrary, object("properties", library), object("required", texts("metadata"))))
	if properties.get("extends") != nil {
		s.extending(properties)
		rules.items = append(rules.items, object("if", object("not", object("required", texts("extends"))), "then", strict))
	} else {
		rules.items = append(rules.items, strict)
	}
	body.set("allOf", place{}, rules)
	return body
}

// extending fills in the keys that lay specs over others.
func (s *schemer) extending(properties *value) {
	put(properties, "extends", choose(object("type", word("string")), object(), s.structOf(&extendsKeys{})))
	inner := object()
	for _, e := range properties.entries {
		if !slices.Contains(ofFile, e.key) {
			inner.set(e.key, place{}, object("$ref", word("#/$defs/agent/properties/"+e.key), "description", e.val.get("description")))
		}
	}
	s.defs.set("inner_agent", place{}, object("type", texts("object", "null"), "properties", inner, "additionalProperties", flag(false)))
	put(properties, "agents", named(refTo("inner_agent")))
}
