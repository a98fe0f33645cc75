package dsl

import (
	"reflect"
	"strconv"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/component"
)

// byKind is the part of the schema that holds for the kind of a file. A
// case.yaml without one is told by what only a case has.
func (s *schemer) byKind(agent *syntax.Node) *syntax.Node {
	s.defs.Set("agent", syntax.Position{}, agent)
	s.checkTypes()
	s.defs.Set("case", syntax.Position{}, s.oneCase(&caseKeys{}))
	s.defs.Get("case").Set("required", syntax.Position{}, texts("name"))
	s.defs.Get("case").Set("anyOf", syntax.Position{}, array(object("required", texts("render")), object("required", texts("run"))))
	s.defs.Set("case_file", syntax.Position{}, s.oneCase(&caseKeys{}, &caseFileKeys{}))
	s.defs.Set("tests", syntax.Position{}, s.testsFile())
	s.defs.Set("suite", syntax.Position{}, s.suite())
	s.defs.Set("prices", syntax.Position{}, s.structOf(&pricesKeys{}))
	is := func(kind string) *syntax.Node {
		return object("properties", object("kind", object("const", word(kind))), "required", texts("kind"))
	}
	oneCase := object("anyOf", array(object("required", texts("render")), object("required", texts("run"))))
	headless := object("not", object("required", texts("kind")), "anyOf", oneCase.Get("anyOf"))
	return choose(is(specfs.KindSuite), refTo("suite"), choose(is(specfs.KindPrices), refTo("prices"),
		choose(is(specfs.KindTests), choose(oneCase, refTo("case_file"), refTo("tests")),
			choose(headless, refTo("case_file"), refTo("agent")))))
}

func choose(condition, then, otherwise *syntax.Node) *syntax.Node {
	return object("if", condition, "then", then, "else", otherwise)
}

// textOr takes text, or what another schema says.
func textOr(v *syntax.Node) *syntax.Node {
	return choose(object("type", texts("string", "boolean")), object("description", word("An expression.")), v)
}

// put replaces the schema of a key, not its description.
func put(properties *syntax.Node, key string, v *syntax.Node) {
	if doc := properties.Get(key).Get("description"); doc != nil {
		v.Set("description", syntax.Position{}, doc)
	}
	properties.Set(key, syntax.Position{}, v)
}

// checkTypes defines the types of checks, and a check of any of them.
func (s *schemer) checkTypes() {
	k := defaultCheck()
	common := opened(s.structOf(&k))
	cases, infos := array(), []component.Info{}
	for _, b := range s.checks {
		s.defs.Set("check."+b.Type, syntax.Position{}, s.structs(config.Struct(&k), config.Struct(b.Config())))
		infos = append(infos, b.Info)
		cases.Items = append(cases.Items, when("type", b.Type, refTo("check."+b.Type)))
	}
	if len(cases.Items) > 0 {
		oneOfTypes(common.Get("properties").Get("type"), infos)
		common.Set("allOf", syntax.Position{}, cases)
	}
	s.defs.Set("check", syntax.Position{}, common)
}

func (s *schemer) checkList() *syntax.Node {
	return object("type", texts("array", "null"), "items", textOr(refTo("check")))
}

// trajectory has the keys of the check, whose type is known.
func (s *schemer) trajectory() *syntax.Node {
	b, ok := s.checks.Find(trajectoryCheck)
	if !ok {
		return typed("object")
	}
	k := defaultCheck()
	out := s.structs(config.Struct(&k), config.Struct(b.Config()))
	out.Get("properties").Drop("type")
	out.Drop("required")
	return out
}

func overrides() *syntax.Node {
	return object("anyOf", array(typed("object", "null"), object("type", word("array"), "items", typed("string"))))
}

// oneCase is a case: the keys of all structs.
func (s *schemer) oneCase(keys ...any) *syntax.Node {
	targets := make([]reflect.Value, len(keys))
	for i, k := range keys {
		targets[i] = config.Struct(k)
	}
	body := s.structs(targets...)
	p := body.Get("properties")
	put(p, "set", overrides())
	put(p, "parameters", typed("object", "null"))
	put(p, "render", object("anyOf", array(typed("string"), object("type", word("array"), "items", typed("string"), "minItems", number("1"), "uniqueItems", flag(true)))))
	put(p, "name", object("type", texts("string", "number"), "pattern", word(`[\p{L}\p{N}]`), "maxLength", number(strconv.Itoa(maxCaseName))))
	put(p, "given", typed("object"))
	put(p, "expect", object("type", texts("array", "null"), "items", typed("string", "boolean")))
	put(p, "checks", s.checkList())
	put(p, trajectoryCheck, s.trajectory())
	run := p.Get("run").Get("properties")
	put(run, "tools", object("type", texts("object", "null"), "additionalProperties",
		object("if", object("type", word("array")), "then", object("minItems", number("1")))))
	put(run, "replies", object("anyOf", array(typed("array"), typed("object"))))
	if f, ok := s.catalog.Models.Find("scripted"); ok {
		s.defs.Set("script", syntax.Position{}, s.config(f.Config()))
		if s.defs.Get("script").Get("properties").Get("replies") != nil {
			put(run, "replies", choose(object("type", word("array")), refTo("script/properties/replies"), refTo("script")))
		}
	}
	return body
}

func (s *schemer) testsFile() *syntax.Node {
	body := s.structOf(&testsKeys{})
	p := body.Get("properties")
	put(p, "set", overrides())
	put(p, "parameters", typed("object", "null"))
	put(p, "tests", object("type", word("array"), "minItems", number("1"), "items", refTo("case")))
	return body
}

func (s *schemer) suite() *syntax.Node {
	k := defaultSuite()
	body := s.structOf(&k)
	body.Get("required").Items = append(body.Get("required").Items, word("metadata"))
	p := body.Get("properties")
	put(p, "llms", named(refTo("llm")))
	rows := s.structOf(&datasetKeys{})
	put(rows.Get("properties"), "rows", object("type", word("array"), "minItems", number("1"), "items", typed("object")))
	rows.Set("oneOf", syntax.Position{}, array(object("required", texts("file")), object("required", texts("rows"))))
	body.Set("not", syntax.Position{}, object("required", texts("specs", "variants")))
	put(p, "dataset", choose(object("type", word("string")), object(), rows))
	variant := s.structOf(&variantKeys{})
	put(variant.Get("properties"), "set", overrides())
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
