package trajectory_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/trajectory"
)

// stepsOf returns the steps of a run with these calls ("tool {json}"), one per step.
func stepsOf(calls ...string) []plan.StepRecord {
	st := plan.StepRecord{ID: "s1", Status: plan.OK}
	for _, c := range calls {
		t, args, _ := strings.Cut(c, " ")
		st.ToolCalls = append(st.ToolCalls, tool.Record{Tool: t, Args: json.RawMessage(args), Status: tool.CallOK})
	}
	return []plan.StepRecord{st}
}

// expected parses expected calls, given as JSON.
func expected(t testing.TB, src string) []trajectory.Call {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(src), &v); err != nil {
		t.Fatal(err)
	}
	out, err := trajectory.ParseCalls(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func compare(t testing.TB, e trajectory.Expectation, calls ...string) trajectory.Report {
	t.Helper()
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
	return e.Compare(stepsOf(calls...), &exprenv.Trace{})
}

// ops formats an alignment as "=a ~b -c +d .e".
func ops(r trajectory.Report) string {
	var out []string
	for _, l := range r.Lines {
		op := string(l.Op)
		if l.Op == trajectory.Same {
			op = "="
		}
		if l.Actual != nil {
			out = append(out, op+l.Actual.Tool)
		} else {
			out = append(out, op+l.Expected.Tool)
		}
	}
	return strings.Join(out, " ")
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		name  string
		match trajectory.Match
		want  string
		calls []string
		ops   string
		pass  bool
		score float64
	}{
		{"exact", "exact", `["a","b"]`, []string{"a", "b"}, "=a =b", true, 1},
		{"exact, one too many", "exact", `["a","b"]`, []string{"a", "x", "b"}, "=a +x =b", false, 0.8},
		{"exact, one missing", "exact", `["a","b"]`, []string{"b"}, "-a =b", false, 2. / 3},
		{"exact, other order", "exact", `["a","b"]`, []string{"b", "a"}, "-a =b +a", false, 0.5},
		{"exact, nothing expected or called", "exact", `[]`, nil, "", true, 1},
		{"exact, nothing expected", "exact", `[]`, []string{"a"}, "+a", false, 0},
		{"exact, twice", "exact", `["a"]`, []string{"a", "a"}, "=a +a", false, 2. / 3},
		{"in order", "in_order", `["a","b"]`, []string{"x", "a", "x", "b", "x"}, ".x =a .x =b .x", true, 1},
		{"in order is the default", "", `["a","b"]`, []string{"a", "x", "b"}, "=a .x =b", true, 1},
		{"in order, other order", "in_order", `["a","b"]`, []string{"b", "a"}, "-a =b .a", false, 0.5},
		{"in order, a later chance", "in_order", `["a","b"]`, []string{"b", "a", "b"}, ".b =a =b", true, 1},
		{"in order, none", "in_order", `["a"]`, nil, "-a", false, 0},
		{"any order", "any_order", `["a","b"]`, []string{"b", "a"}, "=b =a", true, 1},
		{"any order, one too many", "any_order", `["a","b"]`, []string{"b", "a", "c"}, "=b =a +c", false, 0.8},
		{"any order, one missing", "any_order", `["a","a"]`, []string{"a"}, "=a -a", false, 2. / 3},
		{"subset", "subset", `["a","b","c"]`, []string{"c", "a"}, "=c =a", true, 1},
		{"subset, none", "subset", `["a"]`, nil, "", true, 1},
		{"subset, one too many", "subset", `["a"]`, []string{"a", "b"}, "=a +b", false, 0.5},
		{"subset, too often", "subset", `["a"]`, []string{"a", "a"}, "=a +a", false, 0.5},
		{"superset", "superset", `["a","b"]`, []string{"x", "b", "a"}, ".x =b =a", true, 1},
		{"superset, one missing", "superset", `["a","b"]`, []string{"b", "x"}, "=b .x -a", false, 0.5},
		{"globs", "exact", `["read_*","*"]`, []string{"read_file", "clock"}, "=read_file =clock", true, 1},
		{"globs leave room", "any_order", `["*","read_file"]`, []string{"read_file", "clock"}, "=read_file =clock", true, 1},
		{"a chain of partners", "any_order", `["*","[ab]","a"]`, []string{"a", "b", "c"}, "=a =b =c", true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := compare(t, trajectory.Expectation{Match: c.match, Calls: expected(t, c.want)}, c.calls...)
			if got := ops(r); got != c.ops {
				t.Errorf("aligned %q, want %q", got, c.ops)
			}
			if r.Pass != c.pass || fmt.Sprintf("%.6f", r.Score) != fmt.Sprintf("%.6f", c.score) {
				t.Errorf("pass %v with %f, want %v with %f", r.Pass, r.Score, c.pass, c.score)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		name  string
		rule  trajectory.Rule
		tools map[string]trajectory.Rule
		want  string // the expected call
		call  string
		diff  string // differing fields; "" = as expected
	}{
		{name: "none expected are any", want: `"f"`, call: `f {"a":1}`},
		{name: "partial", want: `{"tool":"f","args":{"a":1}}`, call: `f {"a":1.0,"b":2}`},
		{name: "partial, nested", want: `{"tool":"f","args":{"u":{"n":"x"}}}`, call: `f {"u":{"n":"x","m":1}}`},
		{name: "partial, in lists", want: `{"tool":"f","args":{"l":[{"n":1}]}}`, call: `f {"l":[{"n":1,"m":2}]}`},
		{name: "partial, list length", want: `{"tool":"f","args":{"l":[1]}}`, call: `f {"l":[1,2]}`, diff: "l: expected [1], is [1,2]"},
		{name: "partial, other", want: `{"tool":"f","args":{"u":{"n":"x"}}}`, call: `f {"u":{"n":"y"}}`, diff: `u.n: expected "x", is "y"`},
		{name: "partial, in a list", want: `{"tool":"f","args":{"l":[1,2]}}`, call: `f {"l":[1,3]}`, diff: "l[1]: expected 2, is 3"},
		{name: "partial, missing", want: `{"tool":"f","args":{"a":null}}`, call: `f {}`, diff: "a: expected null, is missing"},
		{name: "a number is no text", want: `{"tool":"f","args":{"a":"1"}}`, call: `f {"a":1}`, diff: `a: expected "1", is 1`},
		{name: "exact", rule: trajectory.Rule{Compare: "exact"}, want: `{"tool":"f","args":{"a":1}}`, call: `f {"a":1}`},
		{name: "exact, more", rule: trajectory.Rule{Compare: "exact"}, want: `{"tool":"f","args":{"a":1}}`, call: `f {"a":1,"b":2}`, diff: "b: not expected, is 2"},
		{name: "exact, more inside", want: `{"tool":"f","args":{"u":{}},"compare":"exact"}`, call: `f {"u":{"x":1}}`, diff: "u.x: not expected, is 1"},
		{name: "exact, none", rule: trajectory.Rule{Compare: "exact"}, want: `{"tool":"f","args":{}}`, call: `f {"a":1}`, diff: "a: not expected, is 1"},
		{name: "ignore", rule: trajectory.Rule{Compare: "ignore"}, want: `{"tool":"f","args":{"a":1}}`, call: `f {"a":2}`},
		{name: "a field of all", rule: trajectory.Rule{Fields: map[string]trajectory.Compare{"id": "ignore"}}, want: `{"tool":"f","args":{"id":1,"a":1}}`, call: `f {"id":2,"a":1}`},
		{name: "an ignored field may be there", rule: trajectory.Rule{Compare: "exact", Fields: map[string]trajectory.Compare{"id": "ignore"}}, want: `{"tool":"f","args":{"a":1}}`, call: `f {"id":2,"a":1}`},
		{name: "an exact field", rule: trajectory.Rule{Fields: map[string]trajectory.Compare{"u": "exact"}}, want: `{"tool":"f","args":{"u":{"a":1}}}`, call: `f {"u":{"a":1,"b":2}}`, diff: "u.b: not expected, is 2"},
		{name: "of a tool", tools: map[string]trajectory.Rule{"f": {Compare: "exact"}, "*": {Compare: "ignore"}}, want: `{"tool":"f","args":{}}`, call: `f {"a":2}`, diff: "a: not expected, is 2"},
		{name: "of tools by pattern", tools: map[string]trajectory.Rule{"f*": {Compare: "ignore"}}, want: `{"tool":"f","args":{"a":1}}`, call: `f {"a":2}`},
		{name: "of the call first", rule: trajectory.Rule{Compare: "ignore"}, tools: map[string]trajectory.Rule{"f": {Compare: "ignore"}}, want: `{"tool":"f","args":{"a":1},"compare":"partial"}`, call: `f {"a":2}`, diff: "a: expected 1, is 2"},
		{name: "fields of the call", want: `{"tool":"f","args":{"a":1,"b":1},"fields":{"a":"ignore"}}`, call: `f {"a":2,"b":1}`},
		{name: "no arguments at all", want: `{"tool":"f","args":{}}`, call: `f`},
		{name: "no JSON", want: `{"tool":"f","args":{"a":1}}`, call: `f {"a":`, diff: `arguments: expected {"a":1}, is "{\"a\":"`},
		{name: "long digits", want: `{"tool":"f","args":{"a":"x"}}`, call: `f {"a":12345678901234567891}`, diff: `a: expected "x", is 12345678901234567891`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := compare(t, trajectory.Expectation{Match: "exact", Rule: c.rule, Tools: c.tools, Calls: expected(t, "["+c.want+"]")}, c.call)
			_, got, _ := strings.Cut(r.Diff(), "\n")
			if diff := cmp.Diff(c.diff, strings.TrimSpace(got)); diff != "" || r.Pass != (c.diff == "") {
				t.Errorf("pass %v: %s", r.Pass, diff)
			}
		})
	}
}

func TestDiffFormat(t *testing.T) {
	e := trajectory.Expectation{
		Match: "exact", Forbidden: []string{"write_*"},
		Calls: expected(t, `["list_files",{"tool":"read_file","args":{"path":"a.md","max":5}},"clock","clock","clock","clock","clock",{"tool":"search","args":{"q":"x"}}]`),
	}
	r := compare(t, e, `list_files {}`, `read_file {"path":"b.md"}`, `clock {}`, `clock {}`, `clock {}`, `clock {}`, `clock {}`, `write_file {"path":"c"}`, `write_file {}`)
	want := `  list_files {}
~ read_file {"path":"b.md"}
    max: expected 5, is missing
    path: expected "a.md", is "b.md"
  clock {}
  ... 3 more calls
  clock {}
- search {"q":"x"}
+ write_file {"path":"c"}
+ write_file {}
`
	if diff := cmp.Diff(want, r.Diff()); diff != "" {
		t.Error(diff)
	}
	wantSummary := "calls: 6 as expected, 1 with other arguments, 1 not called, 2 not expected; write_file is forbidden and was called 2 times, first in step s1"
	if diff := cmp.Diff(wantSummary, r.Summary()); diff != "" {
		t.Error(diff)
	}
	if r.Pass || r.Score != 0 {
		t.Errorf("pass %v, score %f: after a call of a forbidden tool", r.Pass, r.Score)
	}
}

func TestDeniedCallsCount(t *testing.T) {
	steps := stepsOf(`rm {"path":"/"}`)
	steps[0].ToolCalls[0].Status = tool.CallDenied
	e := trajectory.Expectation{Calls: expected(t, `["rm"]`)}
	r := e.Compare(steps, &exprenv.Trace{})
	if want := "  rm {\"path\":\"/\"} (denied)\n"; r.Diff() != want || !r.Pass {
		t.Errorf("pass %v: %s", r.Pass, r.Diff())
	}
}

func TestBounds(t *testing.T) {
	n, cost := 2, 0.5
	trace := exprenv.Trace{
		Steps:   []exprenv.Step{{Status: "ok"}, {Status: "failed"}, {Status: "skipped"}},
		Replans: 2, ToolCalls: 2, ModelCalls: 2, Tokens: 2, Cost: 0.5,
	}
	bounds := trajectory.Bounds{Steps: &n, Replans: &n, ToolCalls: &n, ModelCalls: &n, Tokens: &n, Cost: &cost}
	e := trajectory.Expectation{Bounds: bounds}
	if r := e.Compare(nil, &trace); !r.Pass || r.Score != 1 || r.Summary() != "" || r.Diff() != "" {
		t.Errorf("at the bounds: %+v", r)
	}
	n, cost = 1, 0.25
	r := e.Compare(nil, &trace)
	want := []string{
		"2 steps exceed 1", "2 replans exceed 1", "2 tool calls exceed 1",
		"2 model calls exceed 1", "2 tokens exceed 1", "a cost of $0.5 exceeds $0.25",
	}
	if diff := cmp.Diff(want, r.Problems); diff != "" || r.Pass || r.Score != 0 {
		t.Errorf("pass %v: %s", r.Pass, diff)
	}
	n = 0
	zero := trajectory.Expectation{Bounds: trajectory.Bounds{Replans: &n}}
	if r := zero.Compare(nil, &exprenv.Trace{Replans: 1}); r.Pass {
		t.Error("a bound of 0 has no effect")
	}
	if r := zero.Compare(nil, &exprenv.Trace{Replans: 1}); len(r.Problems) != 1 || r.Problems[0] != "1 replan exceeds 0" {
		t.Errorf("one above the bounds: %q", r.Problems)
	}
}

func TestInvalidExpectations(t *testing.T) {
	for _, c := range []struct {
		name, calls string
		e           trajectory.Expectation
		want        string
	}{
		{name: "match", e: trajectory.Expectation{Match: "strict"}, want: `invalid match "strict"`},
		{name: "compare", e: trajectory.Expectation{Rule: trajectory.Rule{Compare: "equal"}}, want: `invalid comparison "equal" of arguments: use exact, partial or ignore`},
		{name: "field", e: trajectory.Expectation{Tools: map[string]trajectory.Rule{"a": {Fields: map[string]trajectory.Compare{"x": "no"}}}}, want: `invalid comparison "no"`},
		{name: "pattern", e: trajectory.Expectation{Forbidden: []string{"a["}}, want: `"a[" is not a tool name or pattern`},
		{name: "too many", e: trajectory.Expectation{Calls: make([]trajectory.Call, 501)}, want: "the maximum is 500"},
		{name: "no list", calls: `"a"`, want: "tools must be a list"},
		{name: "a number", calls: `["a", 1]`, want: "tools[1]: must be the name of a tool"},
		{name: "unknown key", calls: `[{"tool":"a","arg":{}}]`, want: `tools[0]: unknown key "arg"; the keys are tool, args, compare, fields`},
		{name: "no tool", calls: `[{"args":{}}]`, want: "tools[0]: missing required key tool"},
		{name: "args", calls: `[{"tool":"a","args":[1]}]`, want: "tools[0]: args must be a mapping of arguments"},
		{name: "fields", calls: `[{"tool":"a","fields":{"x":1}}]`, want: "fields must be a mapping of names"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.e.Check()
			if c.calls != "" {
				var v any
				if err := json.Unmarshal([]byte(c.calls), &v); err != nil {
					t.Fatal(err)
				}
				_, err = trajectory.ParseCalls(v)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestManyCallsAreAbbreviated(t *testing.T) {
	calls := make([]string, 3000)
	for i := range calls {
		calls[i] = fmt.Sprintf(`f {"i":%d,"text":%q}`, i, strings.Repeat("long ", 100))
	}
	want := make([]trajectory.Call, 20)
	for i := range want {
		want[i] = trajectory.Call{Tool: "f", Args: map[string]any{"i": -i}}
	}
	for _, m := range []trajectory.Match{"exact", "superset"} {
		r := compare(t, trajectory.Expectation{Match: m, Calls: want}, calls...)
		if r.Pass || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "3000 tools were called") {
			t.Errorf("%s: %v", m, r.Problems)
		}
		if n := len(r.Diff()); n > 4000 {
			t.Errorf("%s: a diff of %d bytes", m, n)
		}
	}
}

// An alignment contains each expected and each actual call exactly once.
func FuzzAlignmentIsComplete(f *testing.F) {
	f.Add("abcab", "bacba", uint8(0))
	f.Add("a*b?", "xayb", uint8(2))
	f.Fuzz(func(t *testing.T, want, got string, match uint8) {
		matches := []trajectory.Match{"exact", "in_order", "any_order", "subset", "superset"}
		e := trajectory.Expectation{Match: matches[int(match)%len(matches)], Calls: []trajectory.Call{}}
		for _, c := range want {
			e.Calls = append(e.Calls, trajectory.Call{Tool: string(c)})
		}
		if len(want) > 60 || len(got) > 60 || e.Check() != nil {
			t.Skip()
		}
		var calls []string
		for _, c := range got {
			if c != ' ' {
				calls = append(calls, string(c))
			}
		}
		r := compare(t, e, calls...)
		expected, actual := 0, 0
		for _, l := range r.Lines {
			if l.Expected != nil {
				expected++
			}
			if l.Actual != nil {
				actual++
			}
		}
		if actual != len(calls) || expected > len(e.Calls) || expected < len(e.Calls) && e.Match != trajectory.Subset {
			t.Errorf("%d of %d expected and %d of %d actual calls are in %s", expected, len(e.Calls), actual, len(calls), ops(r))
		}
		if r.Score < 0 || r.Score > 1 || r.Pass && r.Score != 1 {
			t.Errorf("score %f, pass %v", r.Score, r.Pass)
		}
	})
}
