package interval_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/guard/interval"
	"github.com/pexctl/pex/engine/exprenv"
)

var words = []string{"ok", "failed", "limit"}

// within returns the bounds of the values in the property test.
func within() interval.Bounds {
	step := interval.OfType(exprenv.Step{}).With(map[string]interval.Range{
		"status": interval.Words(words...), "attempts": interval.Whole(1, 3), "result": interval.Words("", "done", "Ärger"),
	})
	return interval.Bounds{
		"run": interval.OfType(exprenv.Run{}).With(map[string]interval.Range{
			"steps_executed": interval.Whole(1, 20), "replans": interval.Whole(0, 0), "cost": interval.Number(0, 2.5),
		}),
		"plan": interval.OfType(exprenv.Plan{}).With(map[string]interval.Range{
			"steps": interval.List(1, 4, step), "completed": interval.List(0, 2, step), "remaining": interval.List(0, 0, step),
		}),
		"step": step,
		"parameters": interval.Object(map[string]interval.Range{
			"n": interval.Whole(3, 5), "ratio": interval.Number(0, 1).Or(interval.Nothing()), "strict": interval.Truth(),
			"mode": interval.Words("a", "b").Or(interval.Nothing()), "tags": interval.List(1, 2, interval.Words("x", "y")),
		}),
	}
}

func outlookEnv(t testing.TB) guard.Env {
	t.Helper()
	properties := map[string]any{
		"n": map[string]any{"type": "integer"}, "ratio": map[string]any{"type": "number"}, "strict": map[string]any{"type": "boolean"},
		"mode": map[string]any{"type": "string"}, "tags": map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
	}
	env, ok := guard.Place("after_step", properties)
	if !ok {
		t.Fatal("no such place")
	}
	return env
}

func TestDecide(t *testing.T) {
	env, b := outlookEnv(t), within()
	for _, tt := range []struct {
		src  string
		want interval.Verdict
	}{
		{`run.steps_executed > 20`, interval.Never},
		{`run.steps_executed >= 20`, interval.Unknown},
		{`run.steps_executed >= 1`, interval.Always},
		{`20 < run.steps_executed`, interval.Never},
		{`run.replans == 0`, interval.Always},
		{`run.replans > 0 and step.output.x.y == 1`, interval.Never}, // the right side is not reached
		{`step.output.x.y == 1 and run.replans > 0`, interval.Unknown},
		{`step.status == "success"`, interval.Never},
		{`step.status != "success"`, interval.Always},
		{`step.status == "ok" or step.status == "failed"`, interval.Unknown},
		{`step.status in ["skipped", "done"]`, interval.Never},
		{`step.status not in ["skipped"]`, interval.Always},
		{`upper(step.status) == "ok"`, interval.Unknown}, // results of arithmetic and functions have no bounds
		{`step.status startsWith "x"`, interval.Never},
		{`step.status matches "^[a-z]+$"`, interval.Always},
		{`step.status > "z"`, interval.Never},
		{`not (run.steps_executed < 1)`, interval.Always},
		{`run.tokens > 100`, interval.Unknown},
		{`run.cost / 0 > 1`, interval.Unknown},
		{`run.cost / 2 > 1.25`, interval.Unknown},                   // results of arithmetic and functions have no bounds
		{`run.steps_executed - 1 < 0`, interval.Unknown},            // results of arithmetic and functions have no bounds
		{`run.steps_executed % 5 > 4`, interval.Unknown},            // results of arithmetic and functions have no bounds
		{`run.steps_executed % run.replans == 0`, interval.Unknown}, // division by zero fails
		{`run.tokens - run.tokens == 0`, interval.Unknown},
		{`abs(run.elapsed - run.elapsed) >= 0`, interval.Unknown}, // infinities give NaN
		{`any(plan.steps, .status == "running")`, interval.Never},
		{`all(plan.steps, .attempts > 0)`, interval.Always},
		{`any(plan.steps, .attempts > 0)`, interval.Always},
		{`any(plan.completed, .attempts > 0)`, interval.Unknown}, // the list may be empty
		{`any(plan.steps, .result contains "x")`, interval.Unknown},
		{`len(filter(plan.steps, .status == "done")) > 0`, interval.Never},
		{`count(plan.steps, .status == "done") == 0`, interval.Always},
		{`len(plan.steps) > 4`, interval.Never},
		{`len(plan.remaining) == 0`, interval.Always},
		{`any(plan.remaining, .status == "ok")`, interval.Never},
		{`len(1..3) == 3`, interval.Always},
		{`plan.remaining == nil`, interval.Unknown}, // a missing list is nil
		{`plan.steps[0].attempts > 3`, interval.Never},
		{`plan.steps[2].attempts > 3`, interval.Unknown},      // there may be no third
		{`sum(plan.steps, .attempts) > 12`, interval.Unknown}, // results of arithmetic and functions have no bounds
		{`sum(plan.steps, run.tokens) >= 0`, interval.Unknown},
		{`sum(plan.steps, run.cost) == 0.5`, interval.Unknown},
		{`parameters.n in [1, 2]`, interval.Never},
		{`parameters.n >= 3 && parameters.n <= 5`, interval.Always},
		{`parameters.ratio > 1`, interval.Unknown}, // a missing value fails
		{`(parameters.ratio ?? 0) > 1`, interval.Never},
		{`(parameters.mode ?? "a") in ["a", "b"]`, interval.Always},
		{`parameters.mode == "c"`, interval.Never},
		{`"z" in parameters.tags`, interval.Never},
		{`"x" in parameters.tags`, interval.Unknown},
		{`parameters.strict ? run.replans > 0 : false`, interval.Never},
		{`let limit = 20; run.steps_executed > limit`, interval.Never},
		{`1 < run.steps_executed < 1`, interval.Never},
		{`step.goal == "ok"`, interval.Unknown},
		{`abs(run.steps_executed) < 1`, interval.Unknown}, // results of arithmetic and functions have no bounds
		{`int(run.cost) > 2`, interval.Unknown},           // results of arithmetic and functions have no bounds
		{`int(run.cost) >= 2`, interval.Unknown},
		{`round(run.cost) > 3`, interval.Unknown}, // results of arithmetic and functions have no bounds
		{`len(step.result) > 6`, interval.Never},  // in bytes, at most
		{`step.nothing == 1`, interval.Unknown},   // does not compile
		{`true`, interval.Always},
	} {
		t.Run(tt.src, func(t *testing.T) {
			if got := interval.Decide(tt.src, env, b); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// sampler generates expressions and values.
type sampler struct{ *rand.Rand }

func pick[T any](s sampler, from ...T) T { return from[s.IntN(len(from))] }

func (s sampler) step() exprenv.Step {
	return exprenv.Step{
		Status: pick(s, words...), Attempts: 1 + s.IntN(3), Result: pick(s, "", "done", "Ärger"), Goal: pick(s, "", "ok", "look"),
		Output: pick[any](s, nil, "text", 3, 0.5, []any{1}, map[string]any{"x": 1.0}), ToolCalls: s.IntN(3) - 1,
	}
}

func (s sampler) steps(least, most int) (out []exprenv.Step) {
	for range least + s.IntN(most-least+1) {
		out = append(out, s.step())
	}
	return out
}

// values returns values within within().
func (s sampler) values() map[string]any {
	p := map[string]any{"n": 3 + s.IntN(3), "strict": s.IntN(2) == 0, "tags": []any{pick(s, "x", "y")}}
	if s.IntN(3) > 0 {
		p["ratio"] = pick(s, 0, 1, s.Float64())
	}
	if s.IntN(3) > 0 {
		p["mode"] = pick(s, "a", "b")
	}
	if s.IntN(3) == 0 {
		p["n"] = float64(4) // in the form of decoded JSON
	}
	return map[string]any{
		"run": exprenv.Run{
			StepsExecuted: pick(s, 1, 20, 1+s.IntN(20)), Cost: pick(s, 0, 2.5, s.Float64()), Tokens: pick(s, 0, -1, math.MaxInt, s.IntN(100)),
			Elapsed: pick(s, 0, -1, math.Inf(1), s.Float64()),
		},
		"plan":       exprenv.Plan{Steps: s.steps(1, 4), Completed: s.steps(0, 2)},
		"step":       s.step(),
		"parameters": p,
	}
}

func (s sampler) number(depth int) string {
	if depth <= 0 {
		return pick(s, "0", "1", "20", "-3", "2.5", "9007199254740993", "run.steps_executed", "run.replans", "run.tokens", "run.cost", "run.elapsed",
			"step.attempts", "parameters.n", "parameters.ratio", "len(plan.steps)", "len(step.result)", "step.tool_calls", "len(parameters.tags)", "plan.steps[0].attempts")
	}
	d := depth - 1
	switch s.IntN(9) {
	case 0:
		return "(" + s.truth(d) + " ? " + s.number(d) + " : " + s.number(d) + ")"
	case 1:
		return pick(s, "abs", "ceil", "floor", "round", "int", "float", "min", "max") + "(" + s.number(d) + ")"
	case 2:
		return pick(s, "min", "max") + "(" + s.number(d) + ", " + s.number(d) + ")"
	case 3:
		return pick(s, "count", "sum") + fmt.Sprintf("(%s, %s)", s.list(d), pick(s, "1 == .attempts", ".attempts", `.status == "ok"`, "#index > 0", "#index"))
	case 4:
		return "len(" + s.list(d) + ")"
	case 5:
		return "(" + s.number(d) + " ?? " + s.number(d) + ")"
	case 6:
		return "-" + s.number(d)
	}
	return "(" + s.number(d) + " " + pick(s, "+", "-", "*", "/", "%", "**") + " " + s.number(d) + ")"
}

func (s sampler) list(depth int) string {
	if depth <= 0 {
		return pick(s, "plan.steps", "plan.completed", "plan.remaining", "parameters.tags", "1..3", "[1, 2]", "[]")
	}
	return pick(s, "filter", "map") + fmt.Sprintf("(%s, %s)", s.list(depth-1), pick(s, `.status != "x"`, `.attempts > 3`, "#index >= 0", ".attempts"))
}

func (s sampler) text(depth int) string {
	if depth <= 0 {
		return pick(s, `"ok"`, `"failed"`, `"x"`, `""`, "step.status", "step.result", "step.goal", "parameters.mode", "plan.steps[0].status", "parameters.tags[0]", "step.output", "step.output?.x")
	}
	d := depth - 1
	switch s.IntN(4) {
	case 0:
		return pick(s, "lower", "upper", "trim", "string") + "(" + s.text(d) + ")"
	case 1:
		return "(" + s.text(d) + " + " + s.text(d) + ")"
	case 2:
		return "(" + s.text(d) + " ?? " + s.text(d) + ")"
	}
	return "(" + s.truth(d) + " ? " + s.text(d) + " : " + s.text(d) + ")"
}

func (s sampler) truth(depth int) string {
	d := depth - 1
	if depth <= 0 {
		return pick(s, "true", "false", "parameters.strict", `step.status == "ok"`, "run.replans > 0", "run.cost <= 2.5")
	}
	switch s.IntN(10) {
	case 0:
		return "not (" + s.truth(d) + ")"
	case 1, 2:
		return "(" + s.truth(d) + pick(s, " and ", " or ") + s.truth(d) + ")"
	case 3:
		return "(" + s.text(d) + pick(s, " == ", " != ", " contains ", " startsWith ", " endsWith ", " < ", " >= ") + s.text(d) + ")"
	case 4:
		return "(" + s.text(d) + pick(s, " in ", " not in ") + pick(s, `["ok", "x"]`, "parameters.tags", "[]", "parameters", "step.output") + ")"
	case 5:
		return pick(s, "all", "any", "none", "one") + "(" + s.list(d) + ", " + pick(s, `.status == "ok"`, ".attempts >= 1", "#index < 4", `.result contains "x"`, ".status in parameters.tags") + ")"
	case 6:
		return "(" + pick(s, s.number(d), s.text(d), s.list(d), "find("+s.list(d)+", .attempts > 1)", "first("+s.list(d)+")", "findIndex("+s.list(d)+", .attempts > 0)") + pick(s, " == ", " != ") + "nil)"
	case 7:
		return "(let v = " + s.number(d) + "; v >= " + s.number(0) + ")"
	case 8:
		return "(" + s.text(d) + ` matches "^o.")`
	}
	return "(" + s.number(d) + pick(s, " < ", " <= ", " > ", " >= ", " == ", " != ") + s.number(d) + ")"
}

// For random expressions, a sure result never fails and contains the value.
func TestEvalContainsTheValue(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at work: left to the runs without -short")
	}
	env, b := outlookEnv(t), within()
	sure, certain := 0, 0
	for seed := range uint64(8_000) {
		s := sampler{Rand: rand.New(rand.NewPCG(seed, 1))}
		src := pick(s, s.truth, s.truth, s.number, s.text, s.list)(1 + s.IntN(3))
		v, p := guard.CompileValue(src, env)
		if p != nil {
			continue
		}
		r, ok := interval.Eval(src, env, b)
		if !ok {
			continue
		}
		if sure++; interval.Decide(src, env, b) != interval.Unknown {
			certain++
		}
		for range 20 {
			values := s.values()
			got, err := v.Eval(values)
			if err != nil || !r.Has(got) {
				t.Fatalf("%s on %+v: %v, %v, foretold %+v", src, values, got, err, r)
			}
		}
	}
	if sure < 400 || certain < 120 { // otherwise the test would prove nothing
		t.Errorf("only %d sure forecasts, %d of them of one value", sure, certain)
	}
}

// FuzzEval compares ranges with the values of the property test for any
// source.
func FuzzEval(f *testing.F) {
	for _, src := range []string{
		`run.steps_executed > 20`, `any(plan.steps, .status == "x")`, `step.output?.a ?? 0 > 1`, `1 < run.replans < 3`, `{"a": 1}.a == 1`,
		`let x = [1, 2]; x[0] == 1 and "ok" in x`, `(plan.steps | len()) > 3`, `step.status[0:1] == "o"`, `if parameters.strict { 1 } else { 2 }; true`,
	} {
		f.Add(src, uint64(1))
	}
	env, b := outlookEnv(f), within()
	f.Fuzz(func(t *testing.T, src string, seed uint64) {
		r, sure := interval.Eval(src, env, b)
		_ = interval.UnknownWords(src, env, b)
		_ = interval.Known(src, env, b)
		_ = interval.Misuses(src, env, b, []guard.Tool{{Name: "t", Input: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}, "additionalProperties": false}}, {Name: "u"}})
		v, p := guard.CompileValue(src, env)
		if !sure || p != nil {
			return
		}
		s := sampler{Rand: rand.New(rand.NewPCG(seed, 2))}
		for range 5 {
			if got, err := v.Eval(s.values()); err != nil || !r.Has(got) {
				t.Fatalf("%q: %v, %v, foretold %+v", src, got, err, r)
			}
		}
	})
}

func TestUnknownWords(t *testing.T) {
	env, b := outlookEnv(t), within()
	for _, tt := range []struct {
		src  string
		want []string
	}{
		{`step.status == "error" or run.tokens > 5`, []string{"15 step.status error"}},
		{`"é" == step.status and any(plan.steps, .status == "bad")`, []string{"0 step.status é", "51 .status bad"}},
		{`step.status in ["ok", "done"]`, []string{"22 step.status done"}},
		{`run.replans > 0 and step.status == "gone"`, []string{"35 step.status gone"}}, // not reached, and wrong
		{`step.status == "ok"`, nil},
		{`step.goal == "x"`, nil},
	} {
		t.Run(tt.src, func(t *testing.T) {
			var got []string
			for _, s := range interval.UnknownWords(tt.src, env, b) {
				got = append(got, fmt.Sprintf("%d %s %s", s.Offset, s.Name, s.Word))
				if !slices.Equal(s.Words, []string{"failed", "limit", "ok"}) {
					t.Errorf("words %v", s.Words)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestKnown(t *testing.T) {
	env, b := outlookEnv(t), within()
	b["run"] = b["run"].With(map[string]interval.Range{"steps_executed": interval.Whole(1, 20).Because("limits.max_steps")})
	got := interval.Known(`run.steps_executed > 5 and run.replans > 0 and step.status == "x" and run.tokens > 1 and parameters.mode == "a" and run.steps_executed < 9 and plan.remaining != nil`, env, b)
	want := []string{
		"run.steps_executed is from 1 to 20 (limits.max_steps)", "run.replans is always 0", "step.status is one of failed, limit, ok", "plan.remaining is always empty",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestOfSchema(t *testing.T) {
	for _, tt := range []struct {
		name    string
		schema  map[string]any
		in, out []any
	}{
		{"an enum", map[string]any{"enum": []any{"a", 1}}, []any{"a", 1, 1.0}, []any{"b", nil, 2}},
		{"a const", map[string]any{"const": true}, []any{true}, []any{false, "true"}},
		{"bounds", map[string]any{"type": "integer", "minimum": 1, "exclusiveMaximum": 5.0}, []any{1, 4, 5}, []any{0, 6, 1.5, "1"}},
		{"types", map[string]any{"type": []any{"string", "null"}}, []any{nil, "x"}, []any{1, true}},
		{"a list", map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"type": "string"}}, []any{[]any{"a"}}, []any{[]any{}, []any{1}}},
		{
			"an object",
			map[string]any{"type": "object", "required": []any{"a"}, "properties": map[string]any{"a": map[string]any{"const": 1}, "b": map[string]any{"type": "string"}}},
			[]any{map[string]any{"a": 1}, map[string]any{"a": 1, "b": "x", "c": nil}},
			[]any{map[string]any{}, map[string]any{"a": 2}, map[string]any{"a": 1, "b": 2}},
		},
		{"a closed object", map[string]any{"type": "object", "additionalProperties": false}, []any{map[string]any{}}, []any{map[string]any{"a": 1}}},
		{"what is not known", map[string]any{"$ref": "#/$defs/x"}, []any{1, nil, "x"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := interval.OfSchema(tt.schema)
			for _, v := range tt.in {
				if !r.Has(v) {
					t.Errorf("%v does not fit", v)
				}
			}
			for _, v := range tt.out {
				if r.Has(v) {
					t.Errorf("%v fits", v)
				}
			}
		})
	}
}
