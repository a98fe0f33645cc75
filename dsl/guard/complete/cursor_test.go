package complete_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/guard/complete"
)

func editorEnv(t testing.TB, place string) guard.Env {
	t.Helper()
	env, ok := guard.Place(place, map[string]any{
		"user": map[string]any{"type": "object", "properties": map[string]any{
			"tags": map[string]any{"type": "array", "items": map[string]any{"type": "object", "properties": map[string]any{"label": map[string]any{"type": "string"}}}},
		}},
		"prompt.prefix": map[string]any{"type": "string"},
	})
	if !ok {
		t.Fatal("no such place")
	}
	return env
}

// TestCursorDescribesTheWord: ‸ marks the cursor.
func TestCursorDescribesTheWord(t *testing.T) {
	cases := []struct{ name, src, want string }{
		{"a name of the place", "ru‸n.tokens > 3", "run: run, an object"},
		{"a field", "run.tok‸ens > 3", "tokens: run.tokens, an integer"},
		{"a field behind a question mark", "step?.outp‸ut.x", "output: step?.output, any value"},
		{"a field of an element in a loop", "all(plan.steps, .stat‸us == 'ok')", "status: .status, a string"},
		{"of the element by its sign", "all(plan.steps, #.stat‸us == 'ok')", "status: #.status, a string"},
		{"of a list in a loop in a loop", "any(plan.steps, any(plan.completed, .go‸al == #.goal))", "goal: .goal, a string"},
		{"of what is filtered", "filter(plan.steps, .attempts > 1)[0].go‸al", "goal: filter(plan.steps, .attempts > 1)[0].goal, a string"},
		{"of the last element", "last(plan.completed).resu‸lt", "result: last(plan.completed).result, a string"},
		{"of an element of a list of JSON", "parameters.user.tags[0].lab‸el", "label: parameters.user.tags[0].label, a string"},
		{"of what is piped", "plan.steps | any(.go‸al == '')", "goal: .goal, a string"},
		{"a field by its name in quotes", "parameters['prompt.pre‸fix'] == ''", "prompt.prefix: parameters['prompt.prefix'], a string"},
		{"a field in quotes that is not there", "parameters['prompt.pre‸fi'] == ''", "text beside "},
		{"a function", "le‸n(plan.steps)", "len: , len(value)"},
		{"an operator", "run.tokens > 3 an‸d true", "and: , operator"},
		{"a word that is no operator behind a dot", "run.i‸n", "nothing"},
		{"a name that is not there", "stpe‸.id", "nothing"},
		{"a field that is not there", "step.i‸dd", "nothing"},
		{"a field in its own first argument", "filter(.x‸, .y)", "nothing"},
		{"within a text", "step.goal == 'run.tok‸ens'", "text beside goal"},
		{"a number", "run.tokens > 1‸0", "nothing"},
		{"lines", "run.tokens > 3 &&\n  step.att‸empts > 1", "attempts: step.attempts, an integer"},
		{"behind a text with letters of many bytes", "step.goal == 'Größe 😀' && step.i‸d != ''", "id: step.id, a string"},
		{"behind a quote that is escaped", `step.goal == 'it\'s' && step.i‸d != ''`, "id: step.id, a string"},
		{"behind a bracket that nothing opens", "].i‸d", "nothing"},
		{"behind a parenthesis that nothing opens", ").i‸d", "nothing"},
		{"in an index of nothing", "]['i‸d']", "text beside "},
		{"behind quotes that never close", "step.goal == 'x && step.i‸d", "text beside goal"},
	}
	env := editorEnv(t, "after_step")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before, after, _ := strings.Cut(c.src, "‸")
			got := complete.At(env, before+after, len(before))
			said := "nothing"
			switch {
			case got.Text && !got.Known:
				said = "text beside " + got.Compared.Name
			case got.Known:
				said = fmt.Sprintf("%s: %s, %s", got.Current.Name, got.Path, got.Current.Type)
				if got.Current.Doc == "" && !strings.Contains(got.Path, "parameters") {
					t.Error("nothing is said of it")
				}
			}
			if d := cmp.Diff(c.want, said); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCursorOffersChoices(t *testing.T) {
	cases := []struct{ name, place, src, want string }{
		{"behind a dot", "after_step", "plan.‸", "completed remaining steps version"},
		{"within a field", "after_step", "plan.st‸ > 1", "completed remaining steps version"},
		{"an element's fields", "after_step", "any(plan.steps, .‸)", "attempts error goal id output result status tool_calls tools"},
		{"an element's fields before a condition is written", "after_step", "any(plan.steps, .‸", "attempts error goal id output result status tool_calls tools"},
		{"fields of tools by their name", "tests", `trace.tools["a b"].‸`, "calls errors"},
		{"names in an index", "after_step", `parameters["‸"]`, "prompt.prefix user"},
		{"names in an index that is not closed", "after_step", `parameters["pro‸`, "prompt.prefix user"},
		{"nothing in a list", "after_step", `run.tokens in ["‸"]`, ""},
		{"nothing behind a number", "after_step", "run.tokens.‸", ""},
		{"nothing behind a value", "after_step", "run.tokens > 3 ‸", ""},
		{"words of a text", "after_step", "step.status == '‸'", "ok failed limit loop timeout cancelled skipped needs_review"},
		{"words of a text that is not closed", "after_step", "step.status == \"o‸", "ok failed limit loop timeout cancelled skipped needs_review"},
		{"words of a text in a list", "before_tool", "tool.effect in ['read', '‸']", "read idempotent write"},
		{"words of a text that stands first", "before_tool", "'‸' == tool.effect", "read idempotent write"},
		{"words of an element's field", "tests", "all(trace.calls, .status == '‸')", "ok error denied timeout unknown"},
		{"no words of any text", "after_step", "step.goal == '‸'", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			before, after, _ := strings.Cut(c.src, "‸")
			got := complete.At(editorEnv(t, c.place), before+after, len(before))
			names := got.Compared.Words
			for _, m := range got.Choices {
				names = append(names, m.Name)
			}
			if d := cmp.Diff(c.want, strings.Join(names, " ")); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("names and functions where a value may begin", func(t *testing.T) {
		for _, src := range []string{"‸", "run.tokens > ‸", "len(‸", "not ‸", "r‸un"} {
			before, after, _ := strings.Cut(src, "‸")
			seen := map[string]bool{}
			for _, m := range complete.At(editorEnv(t, "after_step"), before+after, len(before)).Choices {
				seen[m.Name] = true
			}
			if !seen["run"] || !seen["len"] || seen["tokens"] {
				t.Errorf("%s: %v", src, seen)
			}
		}
	})
}

// TestEveryNameIsExplained: every completion has documentation.
func TestEveryNameIsExplained(t *testing.T) {
	n := 0
	for _, place := range guard.Places() {
		env, _ := guard.Place(place, map[string]any{})
		for _, top := range complete.Members(env) {
			for _, m := range append(complete.Members(env, top.Name), top) {
				if n++; m.Doc == "" || !strings.HasSuffix(m.Doc, ".") {
					t.Errorf("%s: %s: %q is no sentence", place, m.Name, m.Doc)
				}
			}
		}
	}
	for _, name := range guard.Functions() {
		if f, _ := guard.Function(name); !strings.HasPrefix(f.Type, name+"(") || !strings.HasSuffix(f.Doc, ".") {
			t.Errorf("%+v", f)
		}
	}
	if n < 100 {
		t.Errorf("only %d names were looked at", n)
	}
}

// FuzzCursor checks that any text has a result within its bounds.
func FuzzCursor(f *testing.F) {
	for _, s := range []string{"run.tokens > 3", "filter(.x, .y)", "a(b[c{", ")))", "all(all(all(#.", "'\\", "x | y | z(.", "\xff.é"} {
		f.Add(s, 3)
	}
	env := editorEnv(f, "after_step")
	f.Fuzz(func(t *testing.T, src string, at int) {
		at = max(0, min(at, len(src)))
		if c := complete.At(env, src, at); c.From < 0 || c.To > len(src) || c.From > c.To || c.To < at && !c.Known || c.From > at {
			t.Errorf("%q at %d: %+v", src, at, c)
		}
	})
}
