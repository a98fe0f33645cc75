package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine"
)

// researcher is an agent with parameters of every kind.
func researcher() *engine.Program {
	return &engine.Program{
		Name: "researcher", Description: "Looks things up.",
		Parameters: []engine.Parameter{
			{Name: "question", Required: true, Schema: json.RawMessage(`{"type":"string","description":"What to look up."}`)},
			{Name: "depth", Default: 3, Schema: json.RawMessage(`{"type":"integer","default":3,"enum":[1,2,3],"description":"How deep."}`)},
			{Name: "at", Required: true, Schema: json.RawMessage(`{"type":"number","description":"Where."}`)},
		},
		Tools: []engine.ToolSpec{{Name: "a", Effect: engine.ReadEffect}, {Name: "b", Effect: engine.IdempotentEffect}},
	}
}

func TestAnAgentsParametersAreItsArguments(t *testing.T) {
	made := made(t, tool.Agent, engine.ToolSettings{}, func(c *tool.AgentConfig) { c.Ref.Bind(researcher()) })
	info := made.Info()
	if info.Description != "Looks things up." || info.Effect != engine.IdempotentEffect {
		t.Errorf("%+v", info)
	}
	want := `{"additionalProperties":false,"properties":{"at":{"type":"number","description":"Where."},"depth":{"type":"integer","default":3,"enum":[1,2,3],"description":"How deep."},` +
		`"question":{"type":"string","description":"What to look up."}},"required":["question","at"],"type":"object"}`
	if diff := cmp.Diff(want, string(info.Input)); diff != "" {
		t.Error(diff)
	}
	got := made.(engine.Delegate).Parameters(json.RawMessage(`{"question":"q","depth":2,"at":2.5}`))
	if diff := cmp.Diff(map[string]any{"question": "q", "depth": 2, "at": 2.5}, got); diff != "" {
		t.Error(diff)
	}
	fails(t, made, map[string]any{"question": "q"}, "an agent is run, not called")
}

func TestAnAgentNeedsASpec(t *testing.T) {
	if _, err := try[tool.AgentConfig](tool.Agent, engine.ToolSettings{}, nil); err == nil {
		t.Error("it was made of nothing")
	}
}
