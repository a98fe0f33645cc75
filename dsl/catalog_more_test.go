package dsl_test

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// What components of these tests can do beyond being built: tools that stand for
// a server's, tools that keep something, nodes that tell what they would ask, and
// providers that hold a model to some schemas only.

type agentNodeConfig struct {
	Agent      component.AgentRef            `yaml:"agent" required:"true" doc:"The spec."`
	Parameters map[string]component.Template `yaml:"parameters" vars:"parameters,steps,@node" doc:"Its parameters."`
}

// notesConfig has a key that is no more what people should write.
type notesConfig struct {
	Folder string `yaml:"folder" doc:"Where they are kept."`
	Dir    string `yaml:"dir" deprecated:"write folder" doc:"Where they are kept."`
}

// keeper keeps something between runs.
type keeper struct{ fakeTool }

func (keeper) Keeps() engine.SessionPart { return engine.NotesPart }

var notes = component.New("notepad", "Keeps notes.", func() notesConfig { return notesConfig{} },
	func(c *notesConfig, s engine.ToolSettings) (engine.Tool, error) {
		return keeper{fakeTool{engine.ToolInfo{Name: s.Name, Effect: engine.IdempotentEffect}, c}}, nil
	})

// fakeServer stands for tools that only a running server tells.
type fakeServer struct{ fakeTool }

var _ engine.Toolset = fakeServer{}

func (fakeServer) List(context.Context, *engine.Call) (*engine.Listing, error) {
	return nil, errors.New("not asked")
}

func (s fakeServer) Bind(engine.ToolDefinition) engine.Tool { return s.fakeTool }

func (fakeServer) Rules() engine.ToolsetRules { return engine.ToolsetRules{} }

func (fakeServer) Close() error { return nil }

var servers = component.New("mcp", "A server.", func() noConfig { return noConfig{} },
	func(c *noConfig, s engine.ToolSettings) (engine.Tool, error) {
		return fakeServer{fakeTool{engine.ToolInfo{Name: s.Name}, c}}, nil
	})

// Call implements engine.Caller: a finalizer asks for an answer of the output's
// schema.
func (n fakeNode) Call(v engine.View) engine.ModelCall {
	f, ok := n.config.(*finalizerConfig)
	if !ok || v.Program.Output == nil {
		return engine.ModelCall{}
	}
	return engine.ModelCall{LLM: f.LLM.Name, Schema: &engine.ReplySchema{Name: "answer", Schema: v.Program.Output.Schema.JSON}}
}

// Unheld implements engine.SchemaHolder: objects must be closed.
func (c *openaiConfig) Unheld(_ engine.ModelSettings, schema json.RawMessage) component.Faults {
	var s struct {
		Additional *bool `json:"additionalProperties"`
		Properties map[string]map[string]any
	}
	if json.Unmarshal(schema, &s) != nil || s.Additional != nil {
		return nil
	}
	out := component.Faults{{At: "", Message: "the object takes other properties than its own", Hint: "write additionalProperties: false"}}
	if s.Properties["total"]["default"] != nil {
		out = append(out, component.Fault{At: "/properties/total/default", Message: "default is not known there", Hint: "leave it out, and check it by output.ensures"})
	}
	return out
}
