package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/guard"
)

func TestProblems(t *testing.T) {
	cases := []struct{ name, place, src, want string }{
		{"empty", "after_step", "  ", "1:2 the expression is empty | "},
		{"a misspelt name", "after_step", `steps.status == "ok"`, "1:1 unknown name steps | did you mean step?"},
		{"a name of elsewhere", "after_step", `reply.text == ""`, "1:1 unknown name reply | reply is available in: after_plan, after_reflect, edge, plan_approval"},
		{"a name of nowhere", "after_step", `foo > 3`, "1:1 unknown name foo | use one of: parameters, plan, run, step"},
		{"a parameter without its namespace", "after_step", `ratio > 0.5`, "1:1 unknown name ratio | write parameters.ratio"},
		{"a misspelt field", "after_step", `run.replan > 3`, "1:5 unknown field replan of run | did you mean replans?"},
		{"a misspelt field in a loop", "after_step", `all(plan.steps, .statsu == "ok")`, "1:18 unknown field statsu | did you mean status?"},
		{"a misspelt field of a field", "after_step", `plan.steps[0].gaol == "x"`, "1:15 unknown field gaol | did you mean goal?"},
		{"an unknown parameter", "after_step", `parameters.user.nam == "x"`, "1:17 unknown field nam of parameters.user | did you mean name?"},
		{"a name with a dot, as a path", "after_step", `parameters.prompt.prefix == "x"`, `1:12 unknown field prompt of parameters | write parameters["prompt.prefix"]`},
		{"a name with a dash, misspelt", "after_step", `parameters.bydash == "x"`, `1:12 unknown field bydash of parameters | write parameters["by-dash"]`},
		{"a wrong type", "after_step", `parameters.n == "3"`, "1:14 invalid operation: == (mismatched types int and string) | both sides must have the same type; convert with int(x), float(x) or string(x)"},
		{"a text in a list", "after_step", `step.tools contains "x"`, "1:12 invalid operation: contains (mismatched types []string and string) | write value in list"},
		{"not of a text", "after_step", `!step.error`, `1:1 invalid operation: ! (mismatched type string) | add a comparison: == "" for a string, == 0 for a number, == nil for a value that may be missing`},
		{"no condition", "after_step", `run.tokens`, "1:1 the expression must be a boolean, got a number | compare it: run.tokens == ..."},
		{"no condition, computed", "after_step", `run.tokens + 1`, "1:1 the expression must be a boolean, got a number | add a comparison"},
		{"assignment", "after_step", `run.tokens = 3`, "1:12 unexpected token = | compare with =="},
		{"three signs", "after_step", `run.tokens === 3`, "1:14 unexpected token = | compare with == and !="},
		{"a template", "after_step", `${parameters.n} > 3`, "1:2 unexpected token { | an expression is not a template; write parameters.n without braces"},
		{"another language's nil", "after_step", `step.error == null`, "1:15 unknown name null | write nil"},
		{"another language's and", "after_step", `step.error == "" AND true`, "1:18 unexpected token AND | write and"},
		{"a single ampersand", "after_step", `true & true`, "1:6 unexpected token & | write and, or"},
		{"an open quote", "after_step", `step.status == "ok`, "1:19 literal not terminated | close the quote; in YAML, put the whole expression between single quotes or in a | block"},
		{"a comment sign that YAML cut", "after_step", `any(plan.steps,`, "1:15 unexpected end of the expression | close the parenthesis; in YAML, quote the whole expression if it contains \" #\""},
		{"a method", "after_step", `step.goal.contains("x")`, `1:11 methods are not supported: .contains() | write string contains "x", or "x" in list`},
		{"a method that is a function", "after_step", `step.goal.trim() == ""`, "1:11 methods are not supported: .trim() | write trim(value)"},
		{"a clock", "after_step", `now() > 3`, "1:1 unknown name now | expressions have no clock; use run.elapsed"},
		{"a loop that is not allowed", "after_step", `groupBy(plan.steps, .id) == nil`, "1:1 the function groupBy is not available | use filter and count"},
		{"a misspelt function", "after_step", `lenn(plan.steps) > 2`, "1:1 unknown name lenn | did you mean len?"},
		{"the whole environment", "after_step", `$env["run"] != nil`, "1:1 $env is not available | write only the name"},
		{"the meter's own names", "after_step", `$budget == nil`, "1:1 unknown name $budget | use one of: parameters, plan, run, step"},
		{"the meter's own functions", "after_step", `$weigh(1, 2) == 2`, "1:1 unknown name $weigh | use one of: parameters, plan, run, step"},
		{"a bad pattern", "after_step", `step.goal matches "("`, "1:11 error parsing regexp: missing closing ): `(` | "},
		{"on the third line, after an accent", "after_step", "step.goal == 'é' and\n  step.error == ''\n  and x", "3:7 unknown name x | use one of: parameters, plan, run, step"},
		{"gates", "gates", `stats.passrate > 0.9`, "1:7 unknown field passrate of stats | did you mean pass_rate?"},
		{"a gate's spread", "gates", `stats.cost.p99 < 1`, "1:12 unknown field p99 of stats.cost | did you mean p95?"},
		{"a case's figure in a gate of the whole", "gates", `case.pass_rate > 0.8`, "1:1 unknown name case | case is available in: checks, gates_each"},
		{"a row in a test", "tests", `output == case.answer`, "1:11 unknown name case | case is available in: checks, gates_each"},
		{"a call", "checks", `trace.calls[0].tools == "x"`, "1:16 unknown field tools | did you mean tool?"},
		{"a spread compared", "gates", `stats.cost < 1`, "1:12 invalid operation: < (mismatched types spread and int) | both sides must have the same type; convert with int(x), float(x) or string(x)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			env, _ := guard.Place(c.place, parameters)
			_, p := guard.Compile(c.src, env)
			if p == nil {
				t.Fatal("no problem")
			}
			got := fmt.Sprintf("%d:%d %s | %s", p.Line, p.Column, p.Message, p.Hint)
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestOffsetIsInBytes(t *testing.T) {
	env, _ := guard.Place("after_step", parameters)
	src := "step.goal == 'éé→' and foo"
	_, p := guard.Compile(src, env)
	if p == nil || p.Offset != strings.Index(src, "foo") || p.Column != 24 {
		t.Errorf("problem %+v", p)
	}
}
