package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/host"
)

type noKeys struct{}

// buildPex compiles spec.yaml and connects it to the fake model as pexctl run does.
func buildPex(k int, c *counts) (func() (string, error), error) {
	parts := &catalog.Catalog{Catalog: engine.Catalog{
		Nodes: node.All(),
		Models: component.Set[model.Settings, model.Model]{component.New("fake", "Adds items.", func() noKeys { return noKeys{} },
			func(*noKeys, model.Settings) (model.Model, error) { return pexModel{k, c}, nil })},
		Tools: component.Set[tool.Settings, tool.Tool]{component.New("add", "Adds two numbers.", func() noKeys { return noKeys{} },
			func(*noKeys, tool.Settings) (tool.Tool, error) { return pexAdd{c}, nil })},
	}}
	program, _, found := dsl.Compile("spec.yaml", parts.Options())
	if program == nil {
		return nil, errors.New(found.String())
	}
	h, err := host.New(program, host.Settings{Catalog: parts, Env: func(string) string { return "" }})
	if err != nil {
		return nil, err
	}
	return func() (string, error) {
		in := engine.Input{RunID: "r", Parameters: map[string]any{"question": question}}
		res := runtime.Run(context.Background(), program, in, h, runtime.Options{})
		if res.Status != stop.RunCompleted {
			return "", fmt.Errorf("%s: %s", res.Status, res.StopReason.Message)
		}
		return res.Response, nil
	}, nil
}

type pexModel struct {
	k int
	*counts
}

// pexRoles maps the roles of requests.
var pexRoles = map[string]role{"planner": planner, "executor": executor, "reflector": reviewer}

// Generate implements model.Model.
func (m pexModel) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	m.models.Add(1)
	chars := 0
	for i := range req.Messages {
		chars += req.Messages[i].Text.Len()
		for _, call := range req.Messages[i].Calls {
			chars += len(call.Name) + len(call.Args)
		}
	}
	m.chars.Add(int64(chars))
	out := respond(pexRoles[req.Role], m.k, pexItem(req.Messages), req.Messages[len(req.Messages)-1].Role == model.ToolRole)
	reply := &model.Reply{Text: out.text, Stop: model.EndTurn, Usage: model.Tokens{Input: 100, Output: 20}}
	switch {
	case out.add != "":
		reply.Calls, reply.Stop = []model.ToolCall{{ID: "c1", Name: "add", Args: json.RawMessage(out.add)}}, model.ToolUse
	case out.answer != "":
		reply.Text = `{"steps":[],"result":"` + out.answer + `"}`
	case len(out.steps) > 0:
		var b strings.Builder
		b.WriteString(`{"steps":`)
		appendStrings(&b, out.steps)
		b.WriteString(`,"result":""}`)
		reply.Text = b.String()
	}
	return reply, nil
}

func pexItem(messages []model.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		text := messages[i].Text
		for j := len(text) - 1; j >= 0; j-- {
			if item, ok := lastItem(text[j]); ok {
				return item
			}
		}
	}
	return 0
}

type pexAdd struct{ *counts }

// Info implements tool.Tool.
func (pexAdd) Info() tool.Info {
	return tool.Info{
		Name: "add", Description: "Adds two numbers.", Effect: tool.ReadEffect,
		Input: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`),
	}
}

// Call implements tool.Tool.
func (t pexAdd) Call(_ context.Context, c *tool.Call) (*tool.Output, error) {
	var in struct{ A, B int }
	if err := json.Unmarshal(c.Args, &in); err != nil {
		return nil, err
	}
	return &tool.Output{Text: t.add(in.A, in.B)}, nil
}
