package tool_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/tool"
)

// researcher returns an agent with parameters of every kind.
func researcher() *engine.Program {
	return &engine.Program{
		Name: "researcher", Description: "Looks things up.",
		Parameters: []engine.Parameter{
			{Name: "question", Required: true, Schema: json.RawMessage(`{"type":"string","description":"What to look up."}`)},
			{Name: "depth", Default: 3, Schema: json.RawMessage(`{"type":"integer","default":3,"enum":[1,2,3],"description":"How deep."}`)},
			{Name: "at", Required: true, Schema: json.RawMessage(`{"type":"number","description":"Where."}`)},
		},
		Tools: []tool.Spec{{Name: "a", Effect: tool.ReadEffect}, {Name: "b", Effect: tool.IdempotentEffect}},
	}
}

func TestAgentParametersBecomeArguments(t *testing.T) {
	made := newTool(t, builtintool.Agent, tool.Settings{}, func(c *builtintool.AgentConfig) { c.Ref.Bind(researcher()) })
	info := made.Info()
	if info.Description != "Looks things up." || info.Effect != tool.IdempotentEffect {
		t.Errorf("%+v", info)
	}
	want := `{"additionalProperties":false,"properties":{"at":{"type":"number","description":"Where."},"depth":{"type":"integer","default":3,"enum":[1,2,3],"description":"How deep."},` +
		`"question":{"type":"string","description":"What to look up."}},"required":["question","at"],"type":"object"}`
	if diff := cmp.Diff(want, string(info.Input)); diff != "" {
		t.Error(diff)
	}
	got, err := made.(engine.AgentTool).Parameters(json.RawMessage(`{"question":"q","depth":2,"at":2.5}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"question": "q", "depth": 2, "at": 2.5}, got); diff != "" {
		t.Error(diff)
	}
	fails(t, made, map[string]any{"question": "q"}, "an agent cannot be called as a tool")
}

func TestAgentRejectsNumbersItWouldRound(t *testing.T) {
	made := newTool(t, builtintool.Agent, tool.Settings{}, func(c *builtintool.AgentConfig) { c.Ref.Bind(researcher()) })
	_, err := made.(engine.AgentTool).Parameters(json.RawMessage(`{"question":"q","at":123456789012345678901}`), nil)
	if _, rounded := errors.AsType[*jsonvalue.PrecisionError](err); !rounded {
		t.Errorf("got %v", err)
	}
}

func TestAgentQuestionIncludesThePlanPositionInGuidedSteps(t *testing.T) {
	made := newTool(t, builtintool.Agent, tool.Settings{}, func(c *builtintool.AgentConfig) { c.Ref.Bind(researcher()) })
	got, err := made.(engine.AgentTool).Parameters(json.RawMessage(`{"question":"q","at":1}`), &tool.PlanContext{Text: "the plan"})
	if err != nil || got["question"] != "q\n\nthe plan" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAgentRequiresASpec(t *testing.T) {
	if _, err := try[builtintool.AgentConfig](builtintool.Agent, tool.Settings{}, nil); err == nil {
		t.Error("it was made of nothing")
	}
}
