package guard_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/engine/exprenv"
)

// parameters are declared as in a spec.
var parameters = map[string]any{
	"question": map[string]any{"type": "string"},
	"n":        map[string]any{"type": "integer"},
	"ratio":    map[string]any{"type": "number"},
	"strict":   map[string]any{"type": "boolean"},
	"tags":     map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
	"user": map[string]any{"type": "object", "properties": map[string]any{
		"name": map[string]any{"type": "string"},
	}, "additionalProperties": false},
	"prompt.prefix": map[string]any{"type": "string"},
	"by-dash":       map[string]any{"type": "string"},
	"free":          map[string]any{"type": []any{"string", "null"}},
}

// everything returns a value for each name of every place.
func everything() map[string]any {
	steps := []exprenv.Step{
		{ID: "s1", Goal: "find it", Status: "ok", Attempts: 1, Result: `{"score": 0.9}`, Output: map[string]any{"score": 0.9, "n": 4.0}, Tools: []string{"search"}},
		{ID: "s2", Goal: "sum up", Status: "failed", Attempts: 2, Error: "timeout"},
	}
	return map[string]any{
		"parameters": map[string]any{
			"question": "why?", "n": json.Number("3"), "ratio": 0.5, "strict": true, "tags": []any{"a", "b"},
			"user": map[string]any{"name": "Ann"}, "free": nil,
		},
		"run":    exprenv.Run{StepsExecuted: 2, Replans: 1, Tokens: 1500, Cost: 0.02, Elapsed: 12.5, ModelCalls: 5, ToolCalls: 3, NoProgress: 1},
		"plan":   exprenv.Plan{Version: 2, Steps: steps, Completed: steps[:1], Remaining: steps[1:]},
		"step":   steps[0],
		"tool":   exprenv.Tool{Name: "write_file", Effect: "write", Args: map[string]any{"path": "a/b.txt", "size": json.Number("12")}, Result: "done", Attempts: 1},
		"reply":  exprenv.Reply{Text: "x", Steps: []string{"a", "b"}, Result: ""},
		"output": map[string]any{"answer": "42", "items": []any{map[string]any{"id": json.Number("1")}, map[string]any{"id": json.Number("2")}}, "n": 4.0},
		"memory": exprenv.Memory{Tokens: 9000, Messages: 40},
		"trace": exprenv.Trace{
			Steps: steps, Tools: map[string]exprenv.ToolUses{"search": {Calls: 2, Errors: 1}}, StopReason: "answered", ModelCalls: 4,
			Calls: []exprenv.Call{
				{Step: "s1", Tool: "search", Args: map[string]any{"query": "x", "limit": json.Number("5")}, Status: "ok", Result: map[string]any{"hits": json.Number("3")}},
				{Step: "s2", Tool: "fetch", Status: "error", Result: "no such page"},
			},
			Status: "completed", ToolCalls: 2, Replans: 1, Response: "It is 42.", Warnings: []string{"a plan was repaired"}, Cost: 0.02, Tokens: 900,
		},
		"stats": exprenv.Stats{
			N: 100, PassRate: 0.93, CILow: 0.88, Cost: exprenv.Spread{Mean: 0.01, P95: 0.03}, PassAll: map[string]float64{"3": 0.9},
			ByGroup: map[string]exprenv.GroupStats{"math": {PassRate: 0.8}},
		},
		"baseline": exprenv.Stats{PassRate: 0.95},
		"case":     map[string]any{"answer": "42", "n": json.Number("4")},
	}
}

// TestCaseInGatesHasFigures: the name case is a row in checks, and the
// figures of a case in gates that apply to each case.
func TestCaseInGatesHasFigures(t *testing.T) {
	env, _ := guard.Place("gates_each", parameters)
	values := map[string]any{
		"case": exprenv.Case{ID: "a", PassRate: 0.8, Flaky: true}, "stats": exprenv.Stats{PassRate: 0.9}, "baseline": exprenv.Stats{},
	}
	g, p := guard.Compile(`case.id == "a" and case.flaky and case.pass_rate < stats.pass_rate`, env)
	if p != nil {
		t.Fatal(p)
	}
	if ok, err := g.Eval(values); !ok || err != nil {
		t.Error(ok, err)
	}
	if _, p := guard.Compile(`case.answer == "x"`, env); messageOf(p) != "unknown field answer of case" {
		t.Errorf("problem %v", p)
	}
}

func TestEvalByPlace(t *testing.T) {
	cases := []struct {
		place, src string
		want       bool
	}{
		{"after_plan", `len(plan.steps) > 1 and reply.result == ""`, true},
		{"after_plan", `plan.version > 3`, false},
		{"after_plan", `any(reply.steps, # contains "a")`, true},
		{"before_tool", `tool.name == "write_file" and not (tool.args.path startsWith "tmp/")`, true},
		{"before_tool", `tool.args.size > 10`, true},
		{"before_tool", `tool.args.missing == nil`, true},
		{"before_tool", `tool.effect == "write" && step.attempts > 1`, false},
		{"after_tool", `tool.result contains "error" or tool.error != ""`, false},
		{"after_step", `step.output.score < parameters.ratio`, false},
		{"after_step", `step.output?.missing?.deeper == nil`, true},
		{"after_step", `step.status in ["failed", "timeout"]`, false},
		{"after_step", `"search" in step.tools`, true},
		{"after_step", `run.cost > 0.01 and run.elapsed < 60`, true},
		{"after_step", `run.no_progress >= 3`, false},
		{"after_step", `all(plan.completed, .status == "ok")`, true},
		{"after_step", `count(plan.steps, .status == "failed") == 1`, true},
		{"after_step", `sum(plan.steps, .attempts) == 3`, true},
		{"after_step", `plan.steps[-1].goal matches "(?i)SUM"`, true},
		{"after_step", `step.output.n % 2 == 0`, true},
		{"after_step", `parameters.n == 3 and parameters.n == 3.0 and parameters.n % 2 == 1`, true},
		{"after_step", `parameters.free == nil and parameters.strict`, true},
		{"after_step", `!parameters.strict`, false},
		{"after_step", `parameters.user.name == "Ann" and "a" in parameters.tags`, true},
		{"after_step", `lower(step.goal) contains lower("FIND")`, true},
		{"after_step", `step.goal + "!" == "find it!"`, true},
		{"after_step", `let bad = filter(plan.steps, .status != "ok"); len(bad) == 1 and bad[0].error == "timeout"`, true},
		{"after_step", `(step.output?.score ?? 0) > 0.5 ? true : false`, true},
		{"after_step", "run.tokens > 1000 and // a comment\n run.replans < 2", true},
		{"after_reflect", `reply.text != ""`, true},
		{"edge", `reply.result != "" or step.status == "ok"`, true},
		{"approval", `tool.args.path endsWith ".txt"`, true},
		{"plan_approval", `len(plan.remaining) == 1`, true},
		{"verify", `step.result matches "score"`, true},
		{"reflector_when", `step.status != "ok"`, false},
		{"ensures", `len(output.items) == 2 and output.items[1].id == 2`, true},
		{"ensures", `all(output.items, .id > 0) and output.answer == "42"`, true},
		{"ensures", `max(map(output.items, .id)) == 2`, true},
		{"compaction", `memory.tokens > 8000 or memory.messages > 100`, true},
		{"tests", `trace.tools.search.calls == 2 and trace.tools.none.calls == 0`, true},
		{"checks", `trace.stop_reason == "answered" and output.n == 4`, true},
		{"gates", `stats.pass_rate >= 0.9 and stats.cost.p95 < 0.05`, true},
		{"gates", `stats.pass_rate >= baseline.pass_rate - 0.01`, false},
		{"gates", `stats.by_group.math.pass_rate > 0.7`, true},
		{"gates", `stats.pass_all["3"] >= 0.9 and stats.by_variant.small.n == 0`, true},
		{"checks", `trace.response contains case.answer and output.n == case.n`, true},
		{"tests", `trace.calls[0].result.hits == 3 and trace.calls[0].args.limit % 2 == 1`, true},
		{"tests", `trace.calls[1].args.path == nil and trace.calls[1].result contains "no such"`, true},
		{"tests", `any(trace.calls, .tool == "search" and .args.query == "x") and trace.cost < 0.05`, true},
		{"checks", `len(trace.warnings) == 1 and trace.status == "completed" and trace.replans + trace.tool_calls == 3`, true},
	}
	for _, c := range cases {
		t.Run(c.place+" "+c.src, func(t *testing.T) {
			env, ok := guard.Place(c.place, parameters)
			if !ok {
				t.Fatalf("no place %s", c.place)
			}
			g, p := guard.Compile(c.src, env)
			if p != nil {
				t.Fatal(p)
			}
			if got, err := g.Eval(everything()); err != nil || got != c.want {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
			if g.String() != c.src {
				t.Errorf("String = %q", g.String())
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	for _, p := range guard.Places() {
		if _, ok := guard.Place(p, nil); !ok {
			t.Errorf("no place %s", p)
		}
	}
	if _, ok := guard.Place("nowhere", nil); ok {
		t.Error("there is a place nowhere")
	}
}

func TestEnvironmentValuesHaveNoMethods(t *testing.T) {
	// Expressions can call methods of values, so there must be none.
	for name, v := range everything() {
		if n := methods(v); n > 0 {
			t.Errorf("%s (%T) has %d methods", name, v, n)
		}
	}
}

func TestEvalDoesNotModifyValues(t *testing.T) {
	env, _ := guard.Place("before_tool", parameters)
	g, p := guard.Compile(`tool.args.size > 10 and parameters.n == 3`, env)
	if p != nil {
		t.Fatal(p)
	}
	values := everything()
	if ok, err := g.Eval(values); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if n := values["parameters"].(map[string]any)["n"]; n != json.Number("3") {
		t.Errorf("n is now %#v", n)
	}
	if n := values["tool"].(exprenv.Tool).Args["size"]; n != json.Number("12") {
		t.Errorf("size is now %#v", n)
	}
	if len(values) != len(everything()) {
		t.Error("names were added")
	}
}

func TestEvalErrors(t *testing.T) {
	cases := []struct{ place, src, want string }{
		{"after_step", `step.output.a.b == 1`, `evaluate step.output.a.b == 1: line 1, column 15: cannot fetch b from nil (use ?. instead of . if the value may be missing)`},
		{"after_step", `step.output`, `evaluate step.output: the result must be a boolean, got an object`},
		{"after_step", `plan.steps[7].goal == ""`, `evaluate plan.steps[7].goal == "": line 1, column 11: index out of range: 7 (array length is 2) (test len(list) first)`},
		{"after_step", `int(step.goal) == 1`, `evaluate int(step.goal) == 1: int takes a number or a string that contains one (test it first: x matches "^[0-9]+$")`},
		{"after_step", `run.tokens % (run.replans - 1) == 0`, `evaluate run.tokens % (run.replans - 1) == 0: line 1, column 12: division by zero (test the divisor first: n != 0 and x % n == 0)`},
		{"after_step", `step.output.n contains "x"`, `evaluate step.output.n contains "x": line 1, column 15: step.output.n must be a string, got a number (convert with int(x), float(x) or string(x); compare a value that may be missing with nil)`},
		{"after_step", `not step.output.missing`, `evaluate not step.output.missing: step.output.missing must be a boolean, got nil (convert with int(x), float(x) or string(x); compare a value that may be missing with nil)`},
		{"after_step", `step.output.n[0] == 1`, `evaluate step.output.n[0] == 1: line 1, column 14: cannot fetch 0 from a number (test its type first, or write the condition for the string itself)`},
		{"ensures", `output.answer.inty == 1`, `evaluate output.answer.inty == 1: line 1, column 15: a string has no fields (test its type first, or write the condition for the string itself)`},
		{"after_step", `1 == 2 or 1 == int(step.goal)`, `evaluate 1 == 2 or 1 == int(step.goal): line 1, column 16: int takes a number or a string that contains one (test it first: x matches "^[0-9]+$")`},
		{"after_step", `step.output.score % 2 == 0`, `evaluate step.output.score % 2 == 0: line 1, column 13: % takes integers, not 0.9`},
		{"ensures", `output.answer > 3`, `evaluate output.answer > 3: line 1, column 15: > compares two numbers or two strings, got a string and a number (convert with int(x), float(x) or string(x); compare a value that may be missing with nil)`},
	}
	for _, c := range cases {
		t.Run(c.src, func(t *testing.T) {
			env, _ := guard.Place(c.place, parameters)
			g, p := guard.Compile(c.src, env)
			if p != nil {
				t.Fatal(p)
			}
			if ok, err := g.Eval(everything()); ok || err == nil || err.Error() != c.want {
				t.Errorf("got %v, %v\nwant %s", ok, err, c.want)
			}
		})
	}
}

func TestCompileValue(t *testing.T) {
	env, _ := guard.Place("ensures", parameters)
	v, p := guard.CompileValue(`len(output.items) * 2`, env)
	if p != nil {
		t.Fatal(p)
	}
	if got, err := v.Eval(everything()); got != 4 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestGuardIsSafeForConcurrentUse(t *testing.T) {
	env, _ := guard.Place("after_step", parameters)
	g, p := guard.Compile(`any(plan.steps, any(plan.steps, .goal + "x" == "sum upx")) and parameters.n == 3`, env)
	if p != nil {
		t.Fatal(p)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			values := everything()
			for range 200 {
				if ok, err := g.Eval(values); !ok || err != nil {
					t.Error(ok, err)
					return
				}
			}
		})
	}
	wg.Wait()
}
