package testcase

import (
	"context"
	"encoding/json"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/eval/render"
)

// render adds the prompts that the case selects, with the parameters and tools sent along.
func (t *try) render() {
	if len(t.c.Render) == 0 {
		return
	}
	v := t.view
	tools, _, err := runtime.Tools(context.Background(), t.unit.Program, engine.Input{Parameters: v.State.Parameters}, t.unit.Host)
	if err != nil {
		t.addError("render", err)
		return
	}
	v.Tools = runtime.ToolInfos(tools)
	for _, name := range t.c.Render {
		call, err := render.Call(v, name)
		if err != nil {
			t.addError("render", err)
			continue
		}
		t.artefact(name+".prompt.md", render.Markdown(call.Messages))
		t.artefact(name+".params.json", pretty(t.paramsOf(v, call)))
	}
	if len(v.Tools) > 0 {
		t.artefact("tools.json", pretty(toolDefs(v.Tools)))
	}
}

func (t *try) artefact(name, text string) {
	t.artefacts = append(t.artefacts, golden.Artifact{Name: name, Text: text})
}

// params is the part of a model call besides its messages.
type params struct {
	LLM      string             `json:"llm,omitempty"`
	Provider string             `json:"provider,omitempty"`
	Params   model.Params       `json:"params"`
	Options  json.RawMessage    `json:"options,omitempty"`
	Fallback []string           `json:"fallback,omitempty"`
	Tools    []string           `json:"tools,omitempty"` // by name; tools.json describes them
	Parallel bool               `json:"parallel_tools,omitempty"`
	Schema   *model.ReplySchema `json:"schema,omitempty"`
}

func (t *try) paramsOf(v engine.View, call model.Call) params {
	p := params{LLM: call.LLM, Schema: call.Schema, Options: t.unit.Options[call.LLM]}
	if m := v.Program.Model(call.LLM); m != nil {
		p.Provider, p.Params, p.Fallback = m.Provider, m.Params, m.Fallback
	}
	for _, d := range call.Tools {
		p.Tools = append(p.Tools, d.Name)
	}
	p.Parallel = call.Parallel && len(p.Tools) > 0
	return p
}

func toolDefs(tools []tool.Info) []model.ToolDef {
	out := make([]model.ToolDef, len(tools))
	for i, info := range tools {
		out[i] = model.ToolDef{Name: info.Name, Description: info.Description, Input: info.Input}
	}
	return out
}

// pretty formats a value as indented JSON.
func pretty(v any) string {
	b, err := jsonvalue.MarshalIndent(v)
	if err != nil { // cannot happen: strings, numbers and valid JSON
		return "null\n"
	}
	return string(b) + "\n"
}
