package guard_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/guard"
)

func methods(v any) int {
	return reflect.TypeOf(v).NumMethod() + reflect.PointerTo(reflect.TypeOf(v)).NumMethod()
}

func TestDeclared(t *testing.T) {
	env, err := guard.Declared("call int, step string, prompt string,role string, more any, tools []string")
	if err != nil {
		t.Fatal(err)
	}
	g, p := guard.Compile(`role == "planner" and call > 1 and prompt contains step and "a" in tools and more.x == 1`, env)
	if p != nil {
		t.Fatal(p)
	}
	values := map[string]any{"call": 2, "step": "find", "prompt": "please find it", "role": "planner", "tools": []string{"a"}, "more": map[string]any{"x": 1.0}}
	if ok, err := g.Eval(values); !ok || err != nil {
		t.Error(ok, err)
	}
	if _, p := guard.Compile(`call == "2"`, env); p == nil || !strings.Contains(p.Message, "mismatched types") {
		t.Errorf("problem %v, want mismatched types", p)
	}
	if _, p := guard.Compile(`parameters.x == 1`, env); p == nil || p.Hint != "use one of: call, more, prompt, role, step, tools" {
		t.Errorf("problem %v", p)
	}
	for _, bad := range []string{"", "call", "call int string", "call decimal"} {
		if _, err := guard.Declared(bad); err == nil {
			t.Errorf("declaration %q: no error", bad)
		}
	}
}

func TestWithTypesANameFromItsSchema(t *testing.T) {
	env, _ := guard.Place("ensures", parameters)
	env = env.With("output", map[string]any{
		"type": "object", "additionalProperties": false,
		"properties": map[string]any{
			"title": map[string]any{"type": "string"},
			"tags":  map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "integer"}},
			"rows": map[string]any{"type": "array", "items": map[string]any{
				"type": "object", "properties": map[string]any{"id": map[string]any{"type": "integer"}}, "patternProperties": map[string]any{"^x-": true}, "additionalProperties": false,
			}},
		},
	})
	cases := []struct{ src, want string }{
		{`output.title != "" and all(output.rows, .id > 0)`, ""},
		{`output.tags.anything > 3`, ""},
		{`output.rows[0]["x-y"] == "z"`, ""},
		{`output.titel != ""`, "unknown field titel of output"},
		{`output.title > 3`, "invalid operation: > (mismatched types string and int)"},
		{`any(output.rows, .id == "x")`, "invalid operation: == (mismatched types int and string)"},
	}
	for _, c := range cases {
		t.Run(c.src, func(t *testing.T) {
			_, p := guard.Compile(c.src, env)
			if got := messageOf(p); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestParametersWithoutDeclarationAreFree(t *testing.T) {
	env, _ := guard.Place("after_step", nil)
	g, p := guard.Compile(`parameters.whatever == 1`, env)
	if p != nil {
		t.Fatal(p)
	}
	if ok, err := g.Eval(map[string]any{"parameters": map[string]any{"whatever": 1.0}}); !ok || err != nil {
		t.Error(ok, err)
	}
}

func messageOf(p *guard.Problem) string {
	if p == nil {
		return ""
	}
	return p.Message
}
