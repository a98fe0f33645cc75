package guard_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/internal/golden"
)

// callees are tools that declare their arguments in the ways there are.
func callees(t *testing.T) []guard.Callee {
	t.Helper()
	schema := func(text string) (v any) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	return []guard.Callee{
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

// TestMisuses: an expression is checked against the arguments that tools declare,
// for the calls of each tool that it can be about.
func TestMisuses(t *testing.T) {
	all := callees(t)
	refund, raw, open, fixed := all[:1], all[1:2], all[3:4], all[4:]
	all = all[:4]
	var out strings.Builder
	for _, tt := range []struct {
		src string
		of  []guard.Callee
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
		b := guard.Bounds{"parameters": guard.Fits(map[string]any{"type": "object", "properties": parameters, "required": []any{"question", "n"}})}
		found := guard.Misuses(tt.src, env, b, tt.of)
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
	golden.File(t, "misuses.txt", out.String())
}
