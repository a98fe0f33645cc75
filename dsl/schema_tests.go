package dsl

import (
	"reflect"

	"github.com/pexctl/pex/engine/component"
)

// byKind is the part of the schema that holds for the kind of a file. A
// case.yaml without one is told by what only a case has.
func (s *schemer) byKind(agent *value) *value {
	s.defs.set("agent", place{}, agent)
	s.checkTypes()
	s.defs.set("case", place{}, s.oneCase(&caseKeys{}))
	s.defs.get("case").set("required", place{}, texts("name"))
	s.defs.get("case").set("anyOf", place{}, array(object("required", texts("render")), object("required", texts("run"))))
	s.defs.set("case_file", place{}, s.oneCase(&caseKeys{}, &caseFileKeys{}))
	s.defs.set("tests", place{}, s.testsFile())
	s.defs.set("suite", place{}, s.suite())
	s.defs.set("prices", place{}, s.structOf(&pricesKeys{}))
	is := func(kind string) *value {
		return object("properties", object("kind", object("const", word(kind))), "required", texts("kind"))
	}
	oneCase := object("anyOf", array(object("required", texts("render")), object("required", texts("run"))))
	headless := object("not", object("required", texts("kind")), "anyOf", oneCase.get("anyOf"))
	return choose(is(kindSuite), refTo("suite"), choose(is(kindPrices), refTo("prices"),
		choose(is(kindTests), choose(oneCase, refTo("case_file"), refTo("tests")),
			choose(headless, refTo("case_file"), refTo("agent")))))
}

func choose(condition, then, otherwise *value) *value {
	return object("if", condition, "then", then, "else", otherwise)
}

// textOr takes text, or what another schema says.
func textOr(v *value) *value {
	return choose(object("type", texts("string", "boolean")), object("description", word("An expression.")), v)
}

// put replaces the schema of a key, not its description.
func put(properties *value, key string, v *value) {
	if doc := properties.get(key).get("description"); doc != nil {
		v.set("description", place{}, doc)
	}
	properties.set(key, place{}, v)
}

// checkTypes defines the types of checks, and a check of any of them.
func (s *schemer) checkTypes() {
	k := defaultCheck()
	common := opened(s.structOf(&k))
	cases, infos := array(), []component.Info{}
	for _, b := range s.checks {
		s.defs.set("check."+b.Type, place{}, s.structs(target(&k), target(b.Config())))
		infos = append(infos, b.Info)
		cases.items = append(cases.items, when("type", b.Type, refTo("check."+b.Type)))
	}
	if len(cases.items) > 0 {
		oneOfTypes(common.get("properties").get("type"), infos)
		common.set("allOf", place{}, cases)
	}
	s.defs.set("check", place{}, common)
}

func (s *schemer) checkList() *value {
	return object("type", texts("array", "null"), "items", textOr(refTo("check")))
}

// trajectory has the keys of the check, whose type is known.
func (s *schemer) trajectory() *value {
	b, ok := s.checks.Find(trajectoryCheck)
	if !ok {
		return typed("object")
	}
	k := defaultCheck()
	out := s.structs(target(&k), target(b.Config()))
	out.get("properties").drop("type")
	out.drop("required")
	return out
}

func overrides() *value {
	return object("anyOf", array(typed("object", "null"), object("type", word("array"), "items", typed("string"))))
}

// oneCase is a case: the keys of all structs.
func (s *schemer) oneCase(keys ...any) *value {
	targets := make([]reflect.Value, len(keys))
	for i, k := range keys {
		targets[i] = target(k)
	}
	body := s.structs(targets...)
	p := body.get("properties")
	put(p, "set", overrides())
	put(p, "parameters", typed("object", "null"))
	put(p, "render", object("anyOf", array(typed("string"), object("type", word("array"), "items", typed("string"), "minItems", number("1"), "uniqueItems", flag(true)))))
	put(p, "name", object("type", texts("string", "number"), "pattern", word(`[\p{L}\p{N}]`), "maxLength", number(itoa(maxCaseName))))
	put(p, "given", typed("object"))
	put(p, "expect", object("type", texts("array", "null"), "items", typed("string", "boolean")))
	put(p, "checks", s.checkList())
	put(p, trajectoryCheck, s.trajectory())
	run := p.get("run").get("properties")
	put(run, "tools", object("type", texts("object", "null"), "additionalProperties",
		object("if", object("type", word("array")), "then", object("minItems", number("1")))))
	put(run, "replies", object("anyOf", array(typed("array"), typed("object"))))
	if f, ok := s.catalog.Models.Find("scripted"); ok {
		s.defs.set("script", place{}, s.config(f.Config()))
		if s.defs.get("script").get("properties").get("replies") != nil {
			put(run, "replies", choose(object("type", word("array")), refTo("script/properties/replies"), refTo("script")))
		}
	}
	return body
}

func (s *schemer) testsFile() *value {
	body := s.structOf(&testsKeys{})
	p := body.get("properties")
	put(p, "set", overrides())
	put(p, "parameters", typed("object", "null"))
	put(p, "tests", object("type", word("array"), "minItems", number("1"), "items", refTo("case")))
	return body
}

func (s *schemer) suite() *value {
	k := defaultSuite()
	body := s.structOf(&k)
	body.get("required").items = append(body.get("required").items, word("metadata"))
	p := body.get("properties")
	put(p, "llms", named(refTo("llm")))
	rows := s.structOf(&datasetKeys{})
	put(rows.get("properties"), "rows", object("type", word("array"), "minItems", number("1"), "items", typed("object")))
	rows.set("oneOf", place{}, array(object("required", texts("file")), object("required", texts("rows"))))
	body.set("not", place{}, object("required", texts("specs", "variants")))
	put(p, "dataset", choose(object("type", word("string")), object(), rows))
	variant := s.structOf(&variantKeys{})
	put(variant.get("properties"), "set", overrides())
	put(p, "variants", object("type", texts("object", "null"), "additionalProperties", variant))
	put(p, "checks", s.checkList())
	put(p, "judge", s.structOf(&judgeKeys{}))
	put(p, "embed", s.structOf(&embedKeys{}))
	put(p, "gates", object("type", texts("array", "null"), "items", textOr(s.structOf(&gateKeys{}))))
	b := defaultBaseline()
	put(p, "baseline", choose(object("type", word("string")), object(), s.structOf(&b)))
	put(p, "max_errors", object("type", texts("integer", "string"), "minimum", number("0"), "pattern", word(`^[0-9.]+%$`)))
	return body
}
