package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// form is a tool with only a schema.
type form string

func (f form) Info() tool.Info {
	return tool.Info{Name: "form", Input: json.RawMessage(f)}
}

func (form) Call(context.Context, *tool.Call) (*tool.Output, error) {
	return &tool.Output{}, nil
}

func TestFixedArgumentsAreHiddenFromModels(t *testing.T) {
	with := func(names ...string) (out []tool.Fixed) {
		for _, name := range names {
			out = append(out, tool.Fixed{Name: name, Value: component.Value{JSON: json.RawMessage("1")}})
		}
		return out
	}
	for _, tt := range []struct {
		name, schema string
		with         []tool.Fixed
		want         string
	}{
		{"nothing fixed", `{"type": "object", "properties": {"a": {}}}`, nil, `{"type": "object", "properties": {"a": {}}}`},
		{
			"one of three, the order kept", `{"type":"object","properties":{"c":{"type":"string"},"b":{},"a":{"enum":[1]}},"required":["c","b"],"additionalProperties":false}`, with("b"),
			`{"type":"object","properties":{"c":{"type":"string"},"a":{"enum":[1]}},"required":["c"],"additionalProperties":false}`,
		},
		{"all", `{"properties":{"a":{},"b":{}},"required":["b"]}`, with("a", "b"), `{"properties":{},"required":[]}`},
		{"one that the schema does not know", `{"properties":{"a":{}}}`, with("z"), `{"properties":{"a":{}}}`},
		{"only names of arguments", `{"properties":{"o":{"properties":{"a":{}},"required":["a"]}}}`, with("a"), `{"properties":{"o":{"properties":{"a":{}},"required":["a"]}}}`},
		{"a name that needs quoting", `{"properties":{"\"x\"":{},"a":{}}}`, with("a"), `{"properties":{"\"x\"":{}}}`},
		{"odd shapes", `{"properties":true,"required":"a"}`, with("a"), `{"properties":true,"required":"a"}`},
		{"no object", `true`, with("a"), `true`},
		{"cut short", `{"properties":{"a":`, with("a"), `{"properties":{"a":`},
		{"none", ``, with("a"), ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := engine.Host{Tools: []tool.Binding{{Spec: &tool.Spec{Name: "form", With: tt.with}, Tool: form(tt.schema)}}}
			if d := cmp.Diff(tt.want, string(h.Tools[0].Info().Input)); d != "" {
				t.Error(d)
			}
		})
	}
}
