package jsonschema

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/component"
)

// byKind selects the schema by the kind of a file. A case.yaml without a kind is
// recognized by keys that only cases have.
func (s *writer) byKind(agent *syntax.Node) *syntax.Node {
	s.defs.Set("agent", syntax.Position{}, agent)
	s.checkTypes()
	s.defs.Set("case", syntax.Position{}, s.oneCase(&language.CaseKeys{}))
	s.defs.Get("case").Set("required", syntax.Position{}, syntax.NewTexts("name"))
	s.defs.Get("case").Set("anyOf", syntax.Position{}, syntax.NewList(syntax.NewMap("required", syntax.NewTexts("render")), syntax.NewMap("required", syntax.NewTexts("run"))))
	s.defs.Set("case_file", syntax.Position{}, s.oneCase(&language.CaseKeys{}, &language.CaseFileKeys{}))
	s.defs.Set("tests", syntax.Position{}, s.testsFile())
	s.defs.Set("suite", syntax.Position{}, s.suite())
	s.defs.Set("prices", syntax.Position{}, s.structOf(&language.PricesKeys{}))
	s.defs.Set("server", syntax.Position{}, s.server())
	s.defs.Set("tokens", syntax.Position{}, s.tokens())
	is := func(kind string) *syntax.Node {
		return syntax.NewMap("properties", syntax.NewMap("kind", syntax.NewMap("const", syntax.NewText(kind))), "required", syntax.NewTexts("kind"))
	}
	oneCase := syntax.NewMap("anyOf", syntax.NewList(syntax.NewMap("required", syntax.NewTexts("render")), syntax.NewMap("required", syntax.NewTexts("run"))))
	headless := syntax.NewMap("not", syntax.NewMap("required", syntax.NewTexts("kind")), "anyOf", oneCase.Get("anyOf"))
	out := choose(is(specfs.KindTests), choose(oneCase, refTo("case_file"), refTo("tests")),
		choose(headless, refTo("case_file"), refTo("agent")))
	for _, kind := range []string{specfs.KindTokens, specfs.KindServer, specfs.KindPrices, specfs.KindSuite} {
		out = choose(is(kind), refTo(strings.ToLower(kind)), out)
	}
	return out
}

func choose(condition, then, otherwise *syntax.Node) *syntax.Node {
	return syntax.NewMap("if", condition, "then", then, "else", otherwise)
}

// textOr returns a schema that also accepts text.
func textOr(v *syntax.Node) *syntax.Node {
	return choose(syntax.NewMap("type", syntax.NewTexts("string", "boolean")), syntax.NewMap("description", syntax.NewText("An expression.")), v)
}

// put replaces the schema of a key, but keeps its description.
func put(properties *syntax.Node, key string, v *syntax.Node) {
	if doc := properties.Get(key).Get("description"); doc != nil {
		v.Set("description", syntax.Position{}, doc)
	}
	properties.Set(key, syntax.Position{}, v)
}

// checkTypes defines the types of checks, and a check of any type.
func (s *writer) checkTypes() {
	k := language.DefaultCheck()
	common := leftOpen(s.structOf(&k))
	cases, infos := syntax.NewList(), []component.Info{}
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

func (s *writer) checkList() *syntax.Node {
	return syntax.NewMap("type", syntax.NewTexts("array", "null"), "items", textOr(refTo("check")))
}

// trajectory returns the keys of the trajectory check, whose type is implied.
func (s *writer) trajectory() *syntax.Node {
	b, ok := s.checks.Find(language.TrajectoryCheck)
	if !ok {
		return typed("object")
	}
	k := language.DefaultCheck()
	out := s.structs(config.Struct(&k), config.Struct(b.Config()))
	out.Get("properties").Drop("type")
	out.Drop("required")
	return out
}

func overrides() *syntax.Node {
	return syntax.NewMap("anyOf", syntax.NewList(typed("object", "null"), syntax.NewMap("type", syntax.NewText("array"), "items", typed("string"))))
}

// oneCase returns the schema of a case: the keys of all structs.
func (s *writer) oneCase(keys ...any) *syntax.Node {
	targets := make([]reflect.Value, len(keys))
	for i, k := range keys {
		targets[i] = config.Struct(k)
	}
	body := s.structs(targets...)
	p := body.Get("properties")
	put(p, "set", overrides())
	put(p, "parameters", typed("object", "null"))
	put(p, "render", syntax.NewMap("anyOf", syntax.NewList(typed("string"), syntax.NewMap("type", syntax.NewText("array"), "items", typed("string"), "minItems", number("1"), "uniqueItems", flag(true)))))
	put(p, "name", syntax.NewMap("type", syntax.NewTexts("string", "number"), "pattern", syntax.NewText(`[\p{L}\p{N}]`), "maxLength", number(strconv.Itoa(language.MaxCaseName))))
	put(p, "given", typed("object"))
	put(p, "expect", syntax.NewMap("type", syntax.NewTexts("array", "null"), "items", typed("string", "boolean")))
	put(p, "checks", s.checkList())
	put(p, language.TrajectoryCheck, s.trajectory())
	run := p.Get("run").Get("properties")
	put(run, "tools", syntax.NewMap("type", syntax.NewTexts("object", "null"), "additionalProperties",
		syntax.NewMap("if", syntax.NewMap("type", syntax.NewText("array")), "then", syntax.NewMap("minItems", number("1")))))
	put(run, "replies", syntax.NewMap("anyOf", syntax.NewList(typed("array"), typed("object"))))
	if script, ok := language.ReplyConfig(&s.catalog); ok {
		s.defs.Set("script", syntax.Position{}, s.config(script))
		if s.defs.Get("script").Get("properties").Get("replies") != nil {
			put(run, "replies", choose(syntax.NewMap("type", syntax.NewText("array")), refTo("script/properties/replies"), refTo("script")))
		}
	}
	return body
}

func (s *writer) testsFile() *syntax.Node {
	body := s.structOf(&language.TestsKeys{})
	p := body.Get("properties")
	put(p, "set", overrides())
	put(p, "parameters", typed("object", "null"))
	put(p, "tests", syntax.NewMap("type", syntax.NewText("array"), "minItems", number("1"), "items", refTo("case")))
	return body
}

func (s *writer) suite() *syntax.Node {
	k := language.DefaultSuite()
	body := s.structOf(&k)
	body.Get("required").Items = append(body.Get("required").Items, syntax.NewText("metadata"))
	p := body.Get("properties")
	put(p, "llms", named(refTo("llm")))
	rows := s.structOf(&language.DatasetKeys{})
	put(rows.Get("properties"), "rows", syntax.NewMap("type", syntax.NewText("array"), "minItems", number("1"), "items", typed("object")))
	rows.Set("oneOf", syntax.Position{}, syntax.NewList(syntax.NewMap("required", syntax.NewTexts("file")), syntax.NewMap("required", syntax.NewTexts("rows"))))
	body.Set("not", syntax.Position{}, syntax.NewMap("required", syntax.NewTexts("specs", "variants")))
	put(p, "dataset", choose(syntax.NewMap("type", syntax.NewText("string")), syntax.NewMap(), rows))
	variant := s.structOf(&language.VariantKeys{})
	put(variant.Get("properties"), "set", overrides())
	put(p, "variants", syntax.NewMap("type", syntax.NewTexts("object", "null"), "additionalProperties", variant))
	put(p, "checks", s.checkList())
	put(p, "judge", s.structOf(&language.JudgeKeys{}))
	put(p, "embed", s.structOf(&language.EmbedKeys{}))
	put(p, "gates", syntax.NewMap("type", syntax.NewTexts("array", "null"), "items", textOr(s.structOf(&language.GateKeys{}))))
	b := language.DefaultBaseline()
	put(p, "baseline", choose(syntax.NewMap("type", syntax.NewText("string")), syntax.NewMap(), s.structOf(&b)))
	put(p, "max_errors", syntax.NewMap("type", syntax.NewTexts("integer", "string"), "minimum", number("0"), "pattern", syntax.NewText(`^[0-9.]+%$`)))
	return body
}
