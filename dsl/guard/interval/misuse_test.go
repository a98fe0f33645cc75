package interval_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/guard/interval"
	"github.com/pexctl/pex/engine/goldentest"
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

// callees returns tools that declare their arguments in every possible way.
func callees(t *testing.T) []guard.Tool {
	t.Helper()
	schema := func(text string) (v any) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	return []guard.Tool{
		{Name: "refund", Effect: "write", Input: schema(`{"type": "object", "required": ["order", "amount", "mode"],
			"properties": {"order": {"type": "string"}, "amount": {"type": "number"}, "mode": {"enum": ["soft", "hard"]}, "note": {"type": ["string", "null"]},
				"tags": {"type": "array", "items": {"type": "string"}}, "to": {"$ref": "#/$defs/person"}, "ids": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "both": {"type": ["string", "number"]}},
			"$defs": {"person": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}`)},
		{Name: "raw", Effect: "write", Texts: true, Input: schema(`{"type": "object", "required": ["order", "amount"], "properties": {"order": {"type": "string"}, "amount": {"type": "string"}}, "additionalProperties": false}`)},
		{Name: "free", Effect: "read", Input: schema(`{"type": "object"}`)},
		{Name: "open", Effect: "read", Input: schema(`{"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": {"type": "number"}}`)},
		{Name: "fixed", Effect: "read", Fixed: []string{"path", "fixed"}, Input: schema(`{"type": "object", "properties": {"path": {"type": "string"}}}`)},
	}
}

// TestMisuses: an expression is checked against the declared arguments, for the
// calls of each tool that it can be about.
func TestMisuses(t *testing.T) {
	all := callees(t)
	refund, raw, open, fixed := all[:1], all[1:2], all[3:4], all[4:]
	all = all[:4]
	var out strings.Builder
	for _, tt := range []struct {
		src string
		of  []guard.Tool
	}{
		{`tool.args.amonut == 80`, refund},
		{`tool.args.amonut in [80, 90]`, refund},
		{`tool.args.amonut matches "8"`, refund},
		{`tool.args.amonut contains "8"`, refund},
		{`tool.args.amount > 50 && tool.args.odrer == "17"`, refund},
		{`tool.args.amount == "80"`, refund},
		{`tool.args.amonut > 50`, refund},
		{`hasPrefix(tool.args.amonut, "8")`, refund},
		{`tool.args.amonut != 80`, refund},
		{`not (tool.args.amonut == 5)`, refund},
		{`"80" != tool.args.amount`, refund},
		{`tool.args.amount in ["80", "90"]`, refund},
		{`tool.args.amount in [80, "90"]`, refund},
		{`tool.args.order > 5`, refund},
		{`tool.args.amount > "50"`, refund},
		{`tool.args.mode == "sotf"`, refund},
		{`tool.args.mode in ["soft", "hrad"]`, refund},
		{`tool.args.note == "x"`, refund},
		{`tool.args.note != nil && tool.args.note == "x"`, refund},
		{`tool.args.note == nil or tool.args.note == "x"`, refund},
		{`tool.args.note == nil ? false : tool.args.note == "x"`, refund},
		{`not (tool.args.note == nil) and tool.args.note == "x"`, refund},
		{`(tool.args.note ?? "") == "x"`, refund},
		{`"nte" in tool.args`, refund},
		{`"note" in tool.args && tool.args.note contains "x"`, refund},
		{`"x" in tool.args.tags`, refund},
		{`"x" in (tool.args.tags ?? [])`, refund},
		{`any(tool.args.tags ?? [], # == 3)`, refund},
		{`3 in (tool.args.tags ?? [])`, refund},
		{`tool.args.to != nil and tool.args.to.nmae == "x"`, refund},
		{`tool.args.to.name == "x"`, refund},
		{`tool.args.to?.name == "x"`, refund},
		{`(tool.args.to?.name ?? "") == "x"`, refund},
		{`(tool.args.ids ?? 0) == "3"`, refund},
		{`tool.args.ids == 3`, refund},
		{`tool.args.both == 3 or tool.args.both == "3"`, refund},
		{`tool.args.both == true`, refund},
		{`tool.args.amount`, refund},
		{`tool.args.amount == parameters.question`, refund},
		{`tool.args.amount > parameters.n`, refund},
		{`let a = tool.args; a.amonut == 80`, refund},
		{`[tool.args][0].amonut == 80`, refund},
		{`any([tool.args], .amonut == 80)`, refund},
		{`tool.args["amonut"] == 80`, refund},
		{`tool["args"]["amonut"] == 80`, refund},
		{`tool.args.order == 17`, refund},
		{`tool.args.amount contains "8"`, refund},
		{`not tool.args.order`, refund},
		{`tool.args.order and true`, refund},
		{`len(tool.args.amount) > 3`, refund},
		{`-tool.args.order > 3`, refund},
		{`tool.args.order + 1 > 3`, refund},
		{`tool.args.amount * 2 > 100`, refund},
		{`tool.args.order[0:2] == "17"`, refund},
		{`tool.args.tags == nil`, refund},
		{`tool.args.order.x == "17"`, refund},
		{`any(run.calls, .tool == "refund" && .args.amonut == 3)`, all},
		{`none(run.calls, .tool == "refund" && .args.order == "17")`, all},
		{`any(run.calls, .args.order == 17)`, all[:2]},
		{`any(run.calls, .args.mode == "soft")`, all[:2]},
		{`tool.name == "refund" && tool.args.amount > 50`, all},
		{`tool.name in ["refund", "raw"] && tool.args.amount > 50`, all},
		{`tool.name != "refund" || tool.args.amount > 50`, all},
		{`tool.effect == "write" && tool.args.order == "17"`, all},
		{`tool.args.amount > 50 && tool.name == "refund"`, all},
		{`tool.args.order == "17"`, all},
		{`tool.args.mode == "soft"`, all[:2]},
		{`tool.args.ordre == "17"`, all[:2]},
		{`tool.name startsWith "raw" and tool.args.amount > 50 and tool.args.order < 3`, all},
		{`tool.args.amount > 50`, raw},
		{`tool.args.amount == 50`, raw},
		{`tool.args.other > 50`, open},
		{`(tool.args.other ?? 0) == "x"`, open},
		{`tool.args.whatever == 1`, all[2:3]},
		{`tool.args.fixed == 1`, fixed},
		{`tool.args.path == "x"`, fixed},
	} {
		env, _ := guard.Place("before_tool", parameters)
		if _, p := guard.Compile(tt.src, env); p != nil {
			t.Fatal(tt.src, p)
		}
		b := interval.Bounds{"parameters": interval.OfSchema(map[string]any{"type": "object", "properties": parameters, "required": []any{"question", "n"}})}
		found := interval.Misuses(tt.src, env, b, tt.of)
		if fmt.Fprintf(&out, "%s\n", tt.src); len(found) == 0 {
			out.WriteString("    right\n")
		}
		for _, m := range found {
			kind := "error"
			if m.Maybe {
				kind = "warning"
			}
			fmt.Fprintf(&out, "    %s at %s: %s (%s)\n", kind, tt.src[m.Offset:], m.Message, m.Hint)
		}
	}
	goldentest.File(t, "misuses.txt", out.String())
}

// In a trace a missing argument is nil: a name is wrong only if no tool has it,
// and a comparison only if it is false for the calls of each tool.
func TestMisusesOfTraces(t *testing.T) {
	all := callees(t)
	server := guard.Tool{Name: "crm", Server: true}
	for _, tt := range []struct {
		src     string
		of      []guard.Tool
		message string
		hint    string
	}{
		{`any(trace.calls, .tool == "refund" && .args.amonut == 3)`, all, "tool \"refund\" has no argument \"amonut\"", "did you mean amount?"},
		{`any(trace.calls, .args.amonut == 3)`, all[:2], "the tools raw, refund have no argument \"amonut\"", "did you mean amount?"},
		{`any(trace.calls, .args.amonut == 3)`, all, "", ""},                         // free may have it
		{`any(trace.calls, .args.ordre == 1)`, []guard.Tool{all[0], all[3]}, "", ""}, // open accepts any name
		{`any(trace.calls, .args.mode == "soft")`, all[:2], "", ""},
		{`any(trace.calls, .args.note contains "x")`, all[:2], "", ""},
		{`any(trace.calls, .tool == "refund" && .args.amount == "80")`, all, "the argument amount of refund is a number but is compared with a string", "remove the quotes: 80"},
		{`any(trace.calls, .args.amount == "80")`, all[:2], "", ""}, // raw has text arguments
		{`any(trace.calls, .args.amount == "80")`, all[:1], "the argument amount is a number but is compared with a string", "remove the quotes: 80"},
		{`any(trace.calls, .args.order == 17)`, all[:1], "the argument order is a string but is compared with a number", `quote it: "17"`},
		{`any(trace.calls, .tool == "refund" && .args.mode == "sotf")`, all, `the argument mode of refund is never "sotf"; it is one of hard, soft`, `did you mean "soft"?`},
		{`any(trace.calls, .tool == "refund" && .args.order contains "1" && .args.amount contains "2")`, all, "the argument amount of refund is a number, but contains takes a string", ""},
		{`any(trace.calls, .tool == "refund" && .args.to.nmae == "x")`, all, "the value of refund has no field nmae", "did you mean name?"},
		{`any(trace.calls, .args.amonut == 3)`, append([]guard.Tool{server}, all[:2]...), "server crm", ""},
		{`any(trace.calls, .tool == "refund" && .args.amonut == 3)`, append([]guard.Tool{server}, all[:2]...), "tool \"refund\" has no argument \"amonut\"", "did you mean amount?"},
		{`any(trace.calls, .tool == "crm__find" && .args.name == "x")`, append([]guard.Tool{server}, all[:2]...), "server crm", ""},
		{`any(trace.calls, .tool == "crm__find" && .status == "ok")`, append([]guard.Tool{server}, all[:2]...), "", ""},
		{`trace.tokens < 100 && len(trace.calls) > 1`, all, "", ""},
	} {
		t.Run(tt.src, func(t *testing.T) {
			env, _ := guard.Place("tests", parameters)
			if _, p := guard.Compile(tt.src, env); p != nil {
				t.Fatal(p)
			}
			found := interval.Misuses(tt.src, env, interval.Bounds{}, tt.of)
			if tt.message == "" && len(found) > 0 || len(found) > 1 {
				t.Fatalf("%+v", found)
			}
			for _, m := range found {
				if m.Server != "" {
					m.Message = "server " + m.Server
				}
				if m.Message != tt.message || tt.hint != "" && m.Hint != tt.hint || m.Maybe {
					t.Errorf("%+v", m)
				}
			}
			if tt.message != "" && len(found) == 0 {
				t.Error("nothing is found")
			}
		})
	}
}

// Uses of arguments of a server whose tools are unknown are reported with its
// name, if the expression can be about its calls.
func TestMisusesOfServers(t *testing.T) {
	tools := append(callees(t)[:1], guard.Tool{Name: "crm", Server: true}, guard.Tool{Name: "my__wiki", Server: true})
	for src, want := range map[string]string{
		`tool.args.amount > 50`:                                       "crm my__wiki",
		`tool.name == "refund" && tool.args.amount > 50`:              "",
		`tool.name == "crm__pay" && tool.args.sum > 50`:               "crm",
		`tool.name startsWith "my__wiki__" && "page" in tool.args`:    "my__wiki",
		`tool.name == "crm__pay" && run.tokens > 50`:                  "",
		`any(run.calls, .tool == "crm__pay" && .args["sum"] != nil)`:  "crm",
		`tool.name == "crm__pay" && tool.args.sum + "x" == tool.name`: "crm",
	} {
		env, _ := guard.Place("before_tool", parameters)
		if _, p := guard.Compile(src, env); p != nil {
			t.Fatal(src, p)
		}
		var got []string
		for _, m := range interval.Misuses(src, env, interval.Bounds{}, tools) {
			if m.Server != "" {
				got = append(got, m.Server)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}
