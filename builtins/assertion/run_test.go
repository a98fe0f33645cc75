package assertion_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/builtins/assertion"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/trial"
)

func TestRunMetricLimits(t *testing.T) {
	two, three, four := 2, 3, 4
	cheap, dear := 0.01, 0.02
	s := withResponse("x")
	s.Trace = exprenv.Trace{
		Steps: []exprenv.Step{{Status: "ok"}, {Status: "failed"}, {Status: "ok"}, {Status: "skipped"}}, Tokens: 3, Cost: 0.015,
	}
	s.Latency = 1500 * time.Millisecond
	free := withResponse("x")
	free.Trace.Tokens = 10
	unpriced := withResponse("x")
	unpriced.Trace.Tokens, unpriced.Unpriced = 10, []string{"main"}
	idle := withResponse("x")
	for _, c := range []struct {
		name    string
		check   trial.Check
		subject *trial.Subject
		want    expect
	}{
		{"steps", newCheck(t, assertion.Steps, none, func(k *assertion.StepsConfig) { k.Min, k.Max = &three, &three }), s, expect{pass: true, message: "steps: 3"}},
		{"too many steps", newCheck(t, assertion.Steps, none, func(k *assertion.StepsConfig) { k.Max = &two }), s, expect{message: "steps: 3 is too much"}},
		{"too few steps", newCheck(t, assertion.Steps, none, func(k *assertion.StepsConfig) { k.Min = &four }), s, expect{message: "steps: 3 is too little"}},
		{"tokens", newCheck(t, assertion.Tokens, none, func(k *assertion.TokensConfig) { k.Max = &three }), s, pass},
		{"too many tokens", newCheck(t, assertion.Tokens, none, func(k *assertion.TokensConfig) { k.Max = &two }), s, expect{message: "tokens: 3 is too much"}},
		{"cost", newCheck(t, assertion.Cost, none, func(k *assertion.CostConfig) { k.Max = &dear }), s, expect{pass: true, message: "$0.015"}},
		{"too dear", newCheck(t, assertion.Cost, none, func(k *assertion.CostConfig) { k.Max = &cheap }), s, expect{message: "too much"}},
		{"no price", newCheck(t, assertion.Cost, none, func(k *assertion.CostConfig) { k.Max = &dear }), unpriced, expect{err: "the llm main has no price"}},
		{"tokens that cost nothing", newCheck(t, assertion.Cost, none, func(k *assertion.CostConfig) { k.Max = &dear }), free, expect{pass: true, message: "$0"}},
		{"nothing to pay", newCheck(t, assertion.Cost, none, func(k *assertion.CostConfig) { k.Max = &dear }), idle, expect{pass: true, message: "$0"}},
		{"latency", newCheck(t, assertion.Latency, none, func(k *assertion.LatencyConfig) { k.Max = 2 * time.Second }), s, expect{pass: true, message: "1.5s"}},
		{"too slow", newCheck(t, assertion.Latency, none, func(k *assertion.LatencyConfig) { k.Max = time.Second }), s, expect{message: "latency: 1.5s is too much"}},
		{"too fast", newCheck(t, assertion.Latency, none, func(k *assertion.LatencyConfig) { k.Min = 2 * time.Second }), s, expect{message: "too little"}},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.check, c.subject, c.want) })
	}
	wantInvalid(t, assertion.Steps, "steps requires max or min", func(*assertion.StepsConfig) {})
	wantInvalid(t, assertion.Latency, "latency requires max or min", func(*assertion.LatencyConfig) {})
	wantInvalid(t, assertion.Tokens, "min 4 is above max 2", func(k *assertion.TokensConfig) { k.Min, k.Max = &four, &two })
}

func TestRefusal(t *testing.T) {
	stopped := withResponse("")
	stopped.Result.StopReason.Code = stop.Refused
	must := newCheck(t, assertion.Refusal, none, func(*assertion.RefusalConfig) {})
	mustNot := newCheck(t, assertion.Refusal, none, func(k *assertion.RefusalConfig) { k.Refused = false })
	for _, c := range []struct {
		name    string
		subject *trial.Subject
		refused bool
		message string
	}{
		{"by its stop reason", stopped, true, "stopped as refused"},
		{"by its words", withResponse("I’m sorry, but I can't help with that."), true, "reads like a refusal"},
		{"in German", withResponse("Dabei kann ich nicht helfen."), true, "reads like a refusal"},
		{"an answer", withResponse("Paris."), false, "did not decline"},
		{"about refusals", withResponse("The senator said: the committee must vote. Later he added much more on it. And then. " + strings.Repeat("x ", 400) + "I must decline."), false, "did not decline"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, must, c.subject, expect{pass: c.refused, message: c.message})
			check(t, mustNot, c.subject, expect{pass: !c.refused, message: c.message})
		})
	}
}

func TestExpr(t *testing.T) {
	s := withOutput(`{"total":3,"tags":["a"]}`)
	s.Trace.Tools = map[string]exprenv.ToolUses{"search": {Calls: 2}}
	for _, c := range []struct {
		name, that string
		want       expect
	}{
		{"holds", `output.total == 3 && "a" in output.tags`, expect{pass: true, message: "is true"}},
		{"does not hold", `trace.tools.search.calls <= 1`, expect{message: "trace.tools.search.calls <= 1 is false"}},
		{"parameters", `parameters.limit == 3`, pass},
		{"cannot be evaluated", `output.name.first == "x"`, expect{message: "evaluate"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, newCheck(t, assertion.Expr, none, func(k *assertion.ExprConfig) { k.That = guardRef(t, c.that) }), s, c.want)
		})
	}
	wantInvalid(t, assertion.Expr, "requires that", func(*assertion.ExprConfig) {})
}

// A false expression reports the values of its names.
func TestExprReportsItsValues(t *testing.T) {
	s := withOutput(`{"total":3,"tags":["a"]}`)
	s.Trace.Tools = map[string]exprenv.ToolUses{"search": {Calls: 2}}
	s.Trace.Prompts = []string{strings.Repeat("x", 1000)}
	for _, c := range []struct{ that, want string }{
		{`output contains "x" || false`, `{"tags":["a"],"total":3}`},
		{`1 > 2`, `{"tags":["a"],"total":3}`},
		{`trace.tools.search.calls <= 1`, "trace.tools.search.calls is 2"},
		{`trace.tools["search"].calls > 5 && trace.model_calls > 0`, "trace.model_calls is 0\ntrace.tools[\"search\"].calls is 2"},
		{`output.tags[0] == "b" || output.tags[7] == "a"`, "output.tags[0] is \"a\"\noutput.tags[7] is nothing"},
		{`output.name.first == "x"`, "output.name.first is nothing"},
		{`trace.tools.gone.calls > trace.tools.gone.calls`, "trace.tools.gone.calls is nothing"},
		{`parameters.limit == 4`, "parameters.limit is 3"},
		{`trace.prompts[0] == ""`, "trace.prompts[0] is \"" + strings.Repeat("x", 299) + "…"},
	} {
		mark, err := newCheck(t, assertion.Expr, none, func(k *assertion.ExprConfig) { k.That = guardRef(t, c.that) }).Check(t.Context(), s)
		if err != nil || mark.Pass {
			t.Fatalf("%s: %+v, %v", c.that, mark, err)
		}
		if d := cmp.Diff(c.want, mark.Actual); d != "" {
			t.Errorf("%s: %s", c.that, d)
		}
	}
}

// called returns a subject whose run made the calls, given as "tool {json}".
func called(calls ...string) *trial.Subject {
	s := withResponse("done")
	step := plan.StepRecord{ID: "s1"}
	for _, c := range calls {
		t, args, _ := strings.Cut(c, " ")
		step.ToolCalls = append(step.ToolCalls, tool.Record{Tool: t, Args: json.RawMessage(args), Status: tool.CallOK})
	}
	s.Result.Steps = []plan.StepRecord{step}
	s.Trace.Steps, s.Trace.ToolCalls = []exprenv.Step{{Status: "ok"}}, len(calls)
	return s
}

func TestTrajectory(t *testing.T) {
	nothing, one := 0, 1
	two := []string{"list_files {}", `read_file {"path":"Paris","limit":5}`}
	for _, c := range []struct {
		name, tools string
		edit        func(*assertion.TrajectoryConfig)
		calls       []string
		want        expect
	}{
		{name: "in order", tools: `["list_files",{"tool":"read_*","args":{"path":"${case.answer}"}}]`, calls: two, want: expect{pass: true, message: "2 as expected"}},
		{name: "other arguments", tools: `[{"tool":"read_file","args":{"path":"Rome"}}]`, calls: two, want: expect{message: "1 with other arguments"}},
		{name: "a number of the row", tools: `[{"tool":"read_file","args":{"limit":"${parameters.limit}"}}]`, calls: two, want: expect{message: "other arguments"}},
		{name: "exact", tools: `["list_files"]`, edit: func(k *assertion.TrajectoryConfig) { k.Match = "exact" }, calls: two, want: expect{score: 2. / 3, message: "1 not expected"}},
		{name: "arguments ignored", tools: `[{"tool":"read_file","args":{"path":"Rome"}}]`, edit: func(k *assertion.TrajectoryConfig) { k.Args = "ignore" }, calls: two, want: pass},
		{name: "a field ignored", tools: `[{"tool":"read_file","args":{"path":"Rome","limit":5}}]`, edit: func(k *assertion.TrajectoryConfig) { k.Fields = map[string]string{"path": "ignore"} }, calls: two, want: pass},
		{name: "of a tool", tools: `[{"tool":"read_file","args":{"path":"Paris"}}]`, edit: func(k *assertion.TrajectoryConfig) {
			k.ArgsOf = map[string]assertion.ArgsCompare{"read_*": {Compare: "exact"}}
		}, calls: two, want: expect{message: "other arguments"}},
		{name: "none at all", tools: `[]`, edit: func(k *assertion.TrajectoryConfig) { k.Match = "exact" }, calls: two, want: expect{message: "2 not expected"}},
		{name: "not compared", calls: two, want: expect{pass: true, message: "all limits were met"}},
		{name: "forbidden", edit: func(k *assertion.TrajectoryConfig) { k.Forbidden = []string{"read_*"} }, calls: two, want: expect{message: "read_file is forbidden"}},
		{name: "bounds", edit: func(k *assertion.TrajectoryConfig) { k.MaxSteps, k.MaxToolCalls = &one, &one }, calls: two, want: expect{message: "2 tool calls exceed 1"}},
		{name: "a bound of none", edit: func(k *assertion.TrajectoryConfig) { k.MaxReplans = &nothing }, calls: two, want: expect{pass: true, message: "all limits were met"}},
		{name: "no such column", tools: `[{"tool":"a","args":{"x":"${case.x}"}}]`, want: expect{err: "case.x does not exist"}},
		{name: "a tool of the row", tools: `["${case.blank}"]`, want: expect{err: "not a tool name or pattern"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newCheck(t, assertion.Trajectory, none, func(k *assertion.TrajectoryConfig) {
				if c.tools != "" {
					k.Tools = anyValue(t, c.tools)
				}
				if c.edit != nil {
					c.edit(k)
				}
			})
			check(t, k, called(c.calls...), c.want)
		})
	}
	for want, tools := range map[string]string{
		"tools must be a list":       `"a"`,
		`unknown key "ar"`:           `[{"tool":"a","ar":{}}]`,
		"not a tool name or pattern": `["a["]`,
	} {
		wantInvalid(t, assertion.Trajectory, want, func(k *assertion.TrajectoryConfig) { k.Tools = anyValue(t, tools) })
	}
}

func TestTrajectoryIsShown(t *testing.T) {
	k := newCheck(t, assertion.Trajectory, none, func(k *assertion.TrajectoryConfig) {
		k.Tools = anyValue(t, `["list_files",{"tool":"read_file","args":{"path":"a"}},"clock"]`)
	})
	m := check(t, k, called("list_files {}", `read_file {"path":"b"}`, "write_file {}"), expect{score: 1. / 3})
	want := "  list_files {}\n~ read_file {\"path\":\"b\"}\n    path: expected \"a\", is \"b\"\n- clock\n. write_file {}\n"
	if diff := cmp.Diff([]string{"list_files, read_file, clock", "list_files, read_file, write_file", want}, []string{m.Expected, m.Actual, m.Diff}); diff != "" {
		t.Error(diff)
	}
}
