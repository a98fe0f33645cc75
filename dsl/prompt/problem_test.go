package prompt_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/prompt"
)

// strict declares question, topic and user (set), and lang (optional).
var strict = prompt.Options{
	Namespaces: []string{"parameters", "args"},
	Known: func(ns, name string) prompt.Knowledge {
		k := prompt.Knowledge{Names: []string{"lang", "question", "topic", "user"}}
		switch {
		case ns != "parameters":
			k.Names = nil
		case name == "lang":
			k.Declared, k.Optional = true, true
		case name == "question" || name == "topic" || name == "user":
			k.Declared = true
		case name == "trip":
			k.Declared, k.Schema = true, trip
		}
		return k
	},
}

// trip is the schema of a parameter for all kinds of paths.
var trip = map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{
	"city": map[string]any{"type": "string"},
	"days": map[string]any{"type": "array", "items": map[string]any{"type": "integer"}},
	"free": map[string]any{"type": "object"},
	"any":  map[string]any{},
	"some": map[string]any{"type": []any{"string", "object"}},
	"rest": map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "number"}},
	"x":    map[string]any{"type": "object", "additionalProperties": false, "patternProperties": map[string]any{"^x": true}},
}}

func TestProblems(t *testing.T) {
	cases := []struct{ name, src, want string }{
		{"none", "${parameters.question} ${parameters.user.name} ${parameters.lang:-en} ${parameters.other:-x}", ""},
		{"a misspelt name", "é ${parameters.qestion}", "unknown_name ${parameters.qestion} | unknown name parameters.qestion | did you mean ${parameters.question}?"},
		{"a misspelt name in the other spelling", "$<parameters.tpoic>", "unknown_name $<parameters.tpoic> | unknown name parameters.tpoic | did you mean $<parameters.topic>?"},
		{"a name like no other", "${parameters.zzzzzz}", "unknown_name ${parameters.zzzzzz} | unknown name parameters.zzzzzz | declare it, or add a default: ${parameters.zzzzzz:-default}"},
		{"a path from an unknown name", "${parameters.usr.name}", "unknown_name ${parameters.usr.name} | unknown name parameters.usr.name | declare it, or add a default: ${parameters.usr.name:-default}"},
		{"an optional name", "a ${parameters.lang}", "optional_name ${parameters.lang} | parameters.lang is optional and has no default here | write ${parameters.lang:-} for an empty text, or ${parameters.lang:-default}"},
		{"an unknown name inside a default", "${parameters.lang:-${parameters.nope}}", "unknown_name ${parameters.nope} | unknown name parameters.nope | declare it, or add a default: ${parameters.nope:-default}"},
		{"a computed name", "a ${parameters.${parameters.topic}} b", "computed_name ${parameters.${parameters.topic}} | references cannot be nested: ${parameters.${parameters.topic}} | write the name itself; to choose by a value, use a default or two templates"},
		{"never closed", "Hi ${parameters.topic", "unterminated ${parameters.topic | the reference ${parameters.topic is not closed | write ${parameters.topic}, or $${ if you mean the text"},
		{"closed on the next line", "Hi ${parameters.topic \n}", "unterminated ${parameters.topic | the reference ${parameters.topic is not closed | write ${parameters.topic}, or $${ if you mean the text"},
		{"never closed before a quote", `{"q": "${parameters.topic", "r": {}}`, "unterminated ${parameters.topic | the reference ${parameters.topic is not closed | write ${parameters.topic}, or $${ if you mean the text"},
		{"a default never closed", "${parameters.topic:-{ ${parameters.topic}", "unterminated ${parameters.topic:- | the reference ${parameters.topic:- is not closed | write ${parameters.topic}, or $${ if you mean the text"},
		{"an unknown filter", "${parameters.topic|jsn}", "bad_filter ${parameters.topic|jsn} | unknown filter jsn | did you mean json? the filters are json, trim, indent N; write a default last: ${parameters.x|trim:-default}"},
		{"a filter without its number", "${parameters.topic|indent}", "bad_filter ${parameters.topic|indent} | the filter indent takes a number from 0 to 100 | did you mean indent? the filters are json, trim, indent N; write a default last: ${parameters.x|trim:-default}"},
		{"an argument too many", "${parameters.topic|trim 3}", "bad_filter ${parameters.topic|trim 3} | the filter trim takes no argument | did you mean trim? the filters are json, trim, indent N; write a default last: ${parameters.x|trim:-default}"},
		{"no filter", "${parameters.topic||x}", "bad_filter ${parameters.topic||x} | a filter needs a name | the filters are json, trim, indent N; write a default last: ${parameters.x|trim:-default}\nbad_filter ${parameters.topic||x} | unknown filter x | the filters are json, trim, indent N; write a default last: ${parameters.x|trim:-default}"},
		{"an empty part", "${parameters.user..id}", "bad_name ${parameters.user..id} | invalid name parameters.user..id: separate its parts with single dots, and write indexes as integers in brackets | "},
		{"a key in brackets", "${parameters.user[name]}", "bad_name ${parameters.user[name]} | invalid name parameters.user[name]: separate its parts with single dots, and write indexes as integers in brackets | "},
		{"an unclosed index", "${parameters.user[1}", "bad_name ${parameters.user[1} | invalid name parameters.user[1: separate its parts with single dots, and write indexes as integers in brackets | "},
		{"paths that lead somewhere", "${parameters.trip.city} ${parameters.trip.days[3]} ${parameters.trip.free.a.b} ${parameters.trip.any[0].b} ${parameters.trip.some.b} ${parameters.trip.rest.a} ${parameters.trip.x.x1.y} ${parameters.trip.nope:-}", ""},
		{"a property that there cannot be", "${parameters.trip.hotel}", "no_field ${parameters.trip.hotel} | parameters.trip has no property hotel; it has any, city, days, free, rest, some, x | write ${parameters.trip}"},
		{"a property that is misspelt", "$<parameters.trip.citi>", "no_field $<parameters.trip.citi> | parameters.trip has no property citi | write $<parameters.trip.city>"},
		{"a path into a text", "${parameters.trip.city.name}", "no_field ${parameters.trip.city.name} | parameters.trip.city is not an object but has type string | write ${parameters.trip.city}"},
		{"an index into a text", "${parameters.trip.city[0]}", "no_field ${parameters.trip.city[0]} | parameters.trip.city is not a list but has type string | write ${parameters.trip.city}"},
		{"a field of a list", "${parameters.trip.days.first}", "no_field ${parameters.trip.days.first} | parameters.trip.days is a list and has no first | write ${parameters.trip.days[0]}"},
		{"a path into an item", "${parameters.trip.days[1].hour}", "no_field ${parameters.trip.days[1].hour} | parameters.trip.days[1] is not an object but has type integer | write ${parameters.trip.days[1]}"},
		{"an index into an object", "${parameters.trip[0]}", "no_field ${parameters.trip[0]} | parameters.trip is not a list but has type object | write ${parameters.trip}"},
		{"a path into what else there may be", "${parameters.trip.rest.a.b}", "no_field ${parameters.trip.rest.a.b} | parameters.trip.rest.a is not an object but has type number | write ${parameters.trip.rest.a}"},
		{"two problems in order", "${parameters.a:-${parameters.b}} ${parameters.c}", "unknown_name ${parameters.b} | unknown name parameters.b | declare it, or add a default: ${parameters.b:-default}\nunknown_name ${parameters.c} | unknown name parameters.c | declare it, or add a default: ${parameters.c:-default}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, problems := prompt.Parse(c.src, strict)
			if diff := cmp.Diff(c.want, lines(c.src, problems)); diff != "" {
				t.Error(diff)
			}
			if prompt.Failed(problems) != (c.want != "") {
				t.Errorf("Failed = %v", prompt.Failed(problems))
			}
		})
	}
}

func TestNearMissesAreWarnings(t *testing.T) {
	cases := []struct{ name, src, at, hint string }{
		{"singular", "a ${parameter.topic} b", "${parameter.topic}", "write ${parameters.topic}"},
		{"short", "${param.topic}", "${param.topic}", "write ${parameters.topic}"},
		{"other products' word", "${inputs.topic}", "${inputs.topic}", "write ${parameters.topic}"},
		{"misspelt", "$<paramters.topic>", "$<paramters.topic>", "write $<parameters.topic>"},
		{"upper case", "${Parameters.topic}", "${Parameters.topic}", "write ${parameters.topic}"},
		{"mixed closers", "$<parameters.topic}", "$<parameters.topic}", "write $<parameters.topic>"},
		{"mixed closers, the other way", "${parameters.topic>", "${parameters.topic>", "write ${parameters.topic}"},
		{"a namespace alone", "${parameters}", "${parameters}", "write ${parameters.name}"},
		{"a bare name", "${topic}", "${topic}", "write ${parameters.topic}"},
		{"a bare name with default", "${topic:-x}", "${topic:-x}", "write ${parameters.topic:-x}"},
		{"double braces", "{{ parameters.topic }}", "{{ parameters.topic }}", "write ${parameters.topic}"},
		{"dollar and double braces", "${{ parameters.topic }}", "${{ parameters.topic }}", "write ${parameters.topic}"},
		{"single braces", "{parameters.topic}", "{parameters.topic}", "write ${parameters.topic}"},
		{"parentheses", "$(parameters.topic)", "$(parameters.topic)", "write ${parameters.topic}"},
		{"no braces", "see $parameters.topic.", "$parameters.topic", "write ${parameters.topic}"},
		{"a namespace of other places", "${env.HOME}", "${env.HOME}", "only parameters, args can be used here; write $${env.HOME} if you mean the text"},
		{"inside a default", "${parameters.lang:-${param.topic}}", "${param.topic}", "write ${parameters.topic}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tpl, problems := prompt.Parse(c.src, strict)
			if len(problems) != 1 {
				t.Fatalf("problems %+v, want one", problems)
			}
			p := problems[0]
			if at := c.src[p.Offset : p.Offset+p.Length]; p.Code != prompt.NearMiss || p.Severity != prompt.Warning || at != c.at || p.Hint != c.hint {
				t.Errorf("got %s %s at %q, hint %q; want %q, hint %q", p.Severity, p.Code, at, p.Hint, c.at, c.hint)
			}
			if got := tpl.Text(from(nil)); !strings.Contains(got, c.at) {
				t.Errorf("got %q, want the text to stay", got)
			}
		})
	}
}

func TestOrdinaryTextIsNotANearMiss(t *testing.T) {
	for _, src := range []string{
		"${foo.x} ${x} ${HOME} $HOME $1 ${1} ${} ${ } $<5 $<x> a $ b $$ $()",
		`{"parameters": {"topic": 1}, "a": {parameters}}`, "jinja {{ user.name }} and {% if x %}",
		"refer to ${steps.s1.result} in a later step", "the parameters.topic key", "{ parameters }",
		"${", "$<", "$", "{", "{{", "$(", "${parameters", "${{", "${{}}", "$${parameter.x}",
	} {
		if _, problems := prompt.Parse(src, strict); len(problems) != 0 {
			t.Errorf("%q: %+v", src, problems)
		}
	}
}

func TestBareNamesOfOpenNamespacesAreText(t *testing.T) {
	o := prompt.Options{Namespaces: []string{"env"}, Known: func(string, string) prompt.Knowledge { return prompt.Knowledge{Declared: true} }}
	if _, problems := prompt.Parse("echo ${HOME} ${1:-x}", o); len(problems) != 0 {
		t.Errorf("problems: %+v", problems)
	}
}

func TestProblemsStayText(t *testing.T) {
	src := "a ${parameters.nope} b ${parameters.lang|up} c ${parameters.x"
	tpl, _ := prompt.Parse(src, strict)
	if got := tpl.Text(from(map[string]any{"nope": 1, "lang": 2})); got != src {
		t.Errorf("got %q, want the source", got)
	}
}

func TestParseIsLinear(t *testing.T) {
	const n = 60_000
	sources := map[string]string{
		"open defaults":    strings.Repeat("${parameters.topic:-", n),
		"deep defaults":    strings.Repeat("${parameters.topic:-", n) + strings.Repeat("}", n),
		"mixed defaults":   strings.Repeat("${parameters.topic:-$<parameters.topic:-", n/2) + strings.Repeat(">}", n/2),
		"open names":       strings.Repeat("${parameters.", n),
		"foreign":          strings.Repeat("${parameter.x", n),
		"near misses":      strings.Repeat("${parameter.x} {{parameters.y}} ", n),
		"braces":           strings.Repeat("{", n*10),
		"dollars":          strings.Repeat("$", n*10),
		"a long name":      "${parameters." + strings.Repeat("topic.", n) + "x}",
		"a long word":      "${" + strings.Repeat("p", n*10) + ".x}",
		"many references":  strings.Repeat("${parameters.topic}", n),
		"many other names": manyNames(n),
	}
	for name, src := range sources {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, problems := prompt.Parse(src, prompt.Options{Namespaces: strict.Namespaces})
			if d := time.Since(start); d > 10*time.Second { // quadratic algorithms take minutes
				t.Errorf("%v for %d bytes", d, len(src))
			}
			if len(problems) > 110 {
				t.Errorf("%d problems", len(problems))
			}
		})
	}
	if _, problems := prompt.Parse(sources["deep defaults"], strict); len(problems) != 1 || problems[0].Code != prompt.TooDeep {
		t.Errorf("deep defaults: %d problems", len(problems))
	}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "${parameters.n%d}", i)
	}
	return b.String()
}

// lines formats problems as "code text | message | hint", one per line.
func lines(src string, problems []prompt.Problem) string {
	out := make([]string, len(problems))
	for i, p := range problems {
		out[i] = fmt.Sprintf("%s %s | %s | %s", p.Code, src[p.Offset:p.Offset+p.Length], p.Message, p.Hint)
	}
	return strings.Join(out, "\n")
}
