package complete_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/guard/complete"
)

func TestMembers(t *testing.T) {
	env, ok := guard.Place("before_tool", map[string]any{
		"tier": map[string]any{"type": "string"},
		"user": map[string]any{"type": "object", "properties": map[string]any{"age": map[string]any{"type": "integer"}, "tags": map[string]any{"type": "array"}}},
	})
	if !ok {
		t.Fatal("no such place")
	}
	cases := []struct {
		name, path, want string
	}{
		{"the names of the place", "", "parameters: an object, plan: an object, run: an object, step: an object, tool: an object"},
		{"the fields of the engine's", "plan", "completed: a list, remaining: a list, steps: a list, version: an integer"},
		{"declared parameters", "parameters", "tier: a string, user: an object"},
		{"what is below them", "parameters.user", "age: an integer, tags: a list"},
		{"nothing below a number", "parameters.user.age", ""},
		{"nothing below a list", "plan.steps", ""},
		{"nothing of an unknown name", "stpe", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var path []string
			if c.path != "" {
				path = strings.Split(c.path, ".")
			}
			var got []string
			for _, m := range complete.Members(env, path...) {
				got = append(got, m.Name+": "+m.Type)
			}
			if d := cmp.Diff(c.want, strings.Join(got, ", ")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestMembersOfATraceGoThroughItsTools(t *testing.T) {
	env, _ := guard.Place("tests", nil)
	var got []string
	for _, m := range complete.Members(env, "trace", "tools", "search") {
		got = append(got, m.Name)
	}
	if d := cmp.Diff([]string{"calls", "errors"}, got); d != "" {
		t.Error(d)
	}
}
