package prompt_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/prompt"
)

// text is a named segments type, as the engine has one.
type text []string

func TestRender(t *testing.T) {
	values := map[string]any{
		"name": "Ann", "empty": "", "unset": nil, "n": 42, "f": 0.5, "whole": 3.0, "yes": true,
		"big": json.Number("9007199254740993"), "list": []any{"a", 1.0, map[string]any{"k": nil}},
		"obj": map[string]any{"b": "<&>", "a": map[string]any{"z": 1.5}}, "segs": []string{"one ", "two"},
		"text": text{"t1", "t2"}, "user.id": "exact", "user": map[string]any{"id": "path", "name": "Bo"},
		"lines": " l1\n\nl2\n", "quote": `say "hi"`,
	}
	cases := []struct{ name, src, want string }{
		{"text alone", "no reference { } $ $5 <b>", "no reference { } $ $5 <b>"},
		{"nothing", "", ""},
		{"both spellings", "${parameters.name} $<parameters.name>", "Ann Ann"},
		{"spaces around everything", "${ parameters . name }", "Ann"},
		{"an empty value is set", "[${parameters.empty:-d}]", "[]"},
		{"an unset value takes the default", "[${parameters.unset:-d}]", "[d]"},
		{"an unset value without default is nothing", "[${parameters.unset}]", "[]"},
		{"an integer", "${parameters.n}", "42"},
		{"a fraction", "${parameters.f}", "0.5"},
		{"a whole float has no fraction", "${parameters.whole}", "3"},
		{"a big number keeps its digits", "${parameters.big}", "9007199254740993"},
		{"a boolean", "${parameters.yes}", "true"},
		{"a list is compact JSON", "${parameters.list}", `["a",1,{"k":null}]`},
		{"an object has sorted keys and plain angles", "${parameters.obj}", `{"a":{"z":1.5},"b":"<&>"}`},
		{"segments are joined as they are", "${parameters.segs}!", "one two!"},
		{"a type of segments is segments", "${parameters.text}!", "t1t2!"},
		{"a path reaches in", "${parameters.obj.a.z}", "1.5"},
		{"a path ends at nothing", "[${parameters.obj.a.q.r}]", "[]"},
		{"a path beyond a scalar is nothing", "[${parameters.name.first:-none}]", "[none]"},
		{"an exact dotted name beats a path", "${parameters.user.id}", "exact"},
		{"a path beside an exact name", "${parameters.user.name}", "Bo"},
		{"an index", "${parameters.list[0]}", "a"},
		{"an index and a field", "[${parameters.list[2].k:-null}]", "[null]"},
		{"an index out of range is nothing", "[${parameters.list[9]}]", "[]"},
		{"an index into an object is nothing", "[${parameters.obj[0]}]", "[]"},
		{"a field of a list is nothing", "[${parameters.list.a}]", "[]"},
		{"json quotes a string", `{"q": ${parameters.quote|json}}`, `{"q": "say \"hi\""}`},
		{"json of segments is one string", "${parameters.segs|json}", `"one two"`},
		{"json leaves numbers", "${parameters.n|json}", "42"},
		{"trim", "[${parameters.lines|trim}]", "[l1\n\nl2]"},
		{"indent leaves the first line and empty ones", "- ${parameters.lines|trim|indent 2}", "- l1\n\n  l2"},
		{"indent of one line", "${parameters.name | indent 4}", "Ann"},
		{"filters do not touch the default", "${parameters.unset|json:-null}", "null"},
		{"a filter and an unused default", "${parameters.name|json:-null}", `"Ann"`},
		{"a default may hold a pipe", "${parameters.unset:-d|trim}", "d|trim"},
		{"a default keeps its spaces", "[${parameters.unset:- d }]", "[ d ]"},
		{"a default with balanced braces", `${parameters.unset:-{"a":{"b":1}}}!`, `{"a":{"b":1}}!`},
		{"a default with balanced angles", "$<parameters.unset:-<b>x</b>>!", "<b>x</b>!"},
		{"braces do not count between angles", "$<parameters.unset:-a } b>!", "a } b!"},
		{"angles do not count between braces", "${parameters.unset:-a > b}!", "a > b!"},
		{"a default over lines", "${parameters.unset:-a\nb}", "a\nb"},
		{"defaults within defaults", "${parameters.unset:-[${parameters.unset:-<$<parameters.name>>}]}", "[<Ann>]"},
		{"the other spelling in a default", "$<parameters.unset:-${parameters.name}>", "Ann"},
		{"an escape in a default is balanced", "${parameters.unset:-$${x}}!", "${x}!"},
		{"escapes", "$${parameters.name} $$<parameters.name> $${x}", "${parameters.name} $<parameters.name> ${x}"},
		{"dollars before an escape", "$$${parameters.name}", "$${parameters.name}"},
		{"dollars alone", "$$ $$5 $", "$$ $$5 $"},
		{"foreign references stay, with their braces", "${foo.a:-${foo.b}} $<foo.c>", "${foo.a:-${foo.b}} $<foo.c>"},
		{"a foreign reference in a default", "${parameters.unset:-${foo}}", "${foo}"},
		{"JSON around references", `{"a": {"b": "${parameters.name}"}}`, `{"a": {"b": "Ann"}}`},
		{"unicode", "é${parameters.name}→", "éAnn→"},
	}
	known := prompt.Options{Namespaces: []string{"parameters"}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tpl, problems := prompt.Parse(c.src, known)
			if prompt.Failed(problems) {
				t.Fatalf("problems: %+v", problems)
			}
			if got := tpl.Text(from(values)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestValuesAreNeverScannedAgain(t *testing.T) {
	for _, v := range []string{
		"${parameters.secret}", "$<parameters.secret>", "$${parameters.secret}", "{{parameters.secret}}",
		"}", "> :-", "${parameters.x:-${parameters.secret}}", strings.Repeat("${parameters.secret:-", 100),
	} {
		values := map[string]any{"x": v, "secret": "canary"}
		tpl, _ := prompt.Parse("a ${parameters.x} b ${parameters.none:-$<parameters.x>} c ${parameters.x|trim}", prompt.Options{Namespaces: []string{"parameters"}})
		want := "a " + v + " b " + v + " c " + strings.TrimSpace(v)
		if got := tpl.Text(from(values)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRenderKeepsSegments(t *testing.T) {
	tpl, _ := prompt.Parse("Plan:\n${parameters.steps}\nDone: ${parameters.n} $${x}", prompt.Options{Namespaces: []string{"parameters"}})
	got := tpl.Render(from(map[string]any{"steps": []string{"1. a\n", "2. b\n"}, "n": 2}))
	if diff := cmp.Diff([]string{"Plan:\n", "1. a\n", "2. b\n", "\nDone: ", "2", " ${x}"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRenderOfOneReferenceSharesItsSegments(t *testing.T) {
	tpl, _ := prompt.Parse("${parameters.steps}", prompt.Options{Namespaces: []string{"parameters"}})
	segs := make([]string, 2, 10)
	lookup := from(map[string]any{"steps": segs})
	if got := tpl.Render(lookup); len(got) != 2 || cap(got) != 2 || &got[0] != &segs[0] {
		t.Errorf("got len %d cap %d, want the value's own two segments, clipped", len(got), cap(got))
	}
	if n := testing.AllocsPerRun(100, func() { tpl.Render(lookup) }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestWholeKeepsTheType(t *testing.T) {
	values := map[string]any{"n": 3.0, "obj": map[string]any{"a": []any{true}}, "segs": []string{"a", "b"}, "unset": nil}
	cases := []struct {
		name, src string
		want      any
		ok        bool
	}{
		{"a number", "${parameters.n}", 3.0, true},
		{"a path", "$<parameters.obj.a>", []any{true}, true},
		{"segments are a string", "${parameters.segs}", "ab", true},
		{"unset is nil", "${parameters.unset}", nil, true},
		{"a default is a string", "${parameters.unset:-7}", "7", true},
		{"an empty default is an empty string", "${parameters.unset:-}", "", true},
		{"a default that is whole", "${parameters.unset:-${parameters.n}}", 3.0, true},
		{"a filter makes text", "${parameters.n|json}", nil, false},
		{"text around", " ${parameters.n}", nil, false},
		{"two references", "${parameters.n}${parameters.n}", nil, false},
		{"text alone", "n", nil, false},
		{"nothing", "", nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tpl, _ := prompt.Parse(c.src, prompt.Options{Namespaces: []string{"parameters"}})
			got, ok := tpl.Whole(from(values))
			if ok != c.ok || cmp.Diff(c.want, got) != "" {
				t.Errorf("got %v, %v; want %v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

func TestNames(t *testing.T) {
	src := "${steps. s1 .output.hits[0].id} ${parameters.b:-${parameters.c}} ${parameters.b} $${parameters.d} ${env.HOME}"
	tpl, _ := prompt.Parse(src, prompt.Options{Namespaces: []string{"parameters", "steps"}})
	want := []string{"steps.s1.output.hits[0].id", "parameters.b", "parameters.c"}
	if diff := cmp.Diff(want, tpl.Names()); diff != "" {
		t.Error(diff)
	}
}

func TestLookupIsAskedForTheLongestNameFirst(t *testing.T) {
	tpl, _ := prompt.Parse("${steps.s1.output.hits[1][0].id}", prompt.Options{Namespaces: []string{"steps"}})
	var asked []string
	got := tpl.Text(func(_, name string) (any, bool) {
		asked = append(asked, name)
		if name == "s1.output" {
			return map[string]any{"hits": []any{nil, []any{map[string]any{"id": "h"}}}}, true
		}
		return nil, false
	})
	want := []string{"s1.output.hits[1][0].id", "s1.output.hits[1][0]", "s1.output.hits[1]", "s1.output.hits", "s1.output"}
	if diff := cmp.Diff(want, asked); diff != "" || got != "h" {
		t.Errorf("got %q\n%s", got, diff)
	}
}

func TestTemplateIsSafeForConcurrentUse(t *testing.T) {
	tpl, _ := prompt.Parse("a ${parameters.x} b ${parameters.y:-d}", prompt.Options{Namespaces: []string{"parameters"}})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if got := tpl.Text(from(map[string]any{"x": "1"})); got != "a 1 b d" {
					t.Errorf("got %q", got)
				}
			}
		})
	}
	wg.Wait()
}
