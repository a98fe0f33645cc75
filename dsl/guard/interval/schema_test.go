package interval_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/guard/interval"
)

// misusesOf returns the number of misuses in an expression over the arguments of
// a tool with a schema.
func misusesOf(src string, input any) int {
	env, _ := guard.Place("before_tool", nil)
	return len(interval.Misuses(src, env, interval.Bounds{}, []guard.Tool{{Name: "x", Input: input}}))
}

// A schema that refers to itself in many places would have more parts than fit
// into memory.
func TestSelfReferringSchemaIsCheap(t *testing.T) {
	properties := map[string]any{"amount": map[string]any{"type": "number"}}
	for i := range 30 {
		properties[fmt.Sprint("p", i)] = map[string]any{"$ref": "#"}
	}
	input := map[string]any{"type": "object", "properties": properties}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if n := misusesOf(`tool.args.amount == "80"`, input); n != 1 {
		t.Errorf("%d misuses, want 1", n)
	}
	runtime.ReadMemStats(&after)
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 64 {
		t.Errorf("%d MB were allocated", mb)
	}
}

func TestInvalidPartsOfASchemaAreIgnored(t *testing.T) {
	for _, odd := range []any{nil, true, []any{}, "x"} {
		input := map[string]any{"type": "object", "properties": odd, "allOf": []any{map[string]any{
			"properties": map[string]any{"amount": map[string]any{"type": "number"}},
		}}}
		if n := misusesOf(`tool.args.amount == "80"`, input); n != 1 {
			t.Errorf("properties %v: %d misuses, want 1", odd, n)
		}
	}
}
