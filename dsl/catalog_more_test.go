package dsl_test

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// Components for these tests with capabilities beyond being built: tools of a
// server, tools with stored data, nodes that report their requests, and providers
// that enforce only some schemas.

type agentNodeConfig struct {
	Agent      component.AgentRef            `yaml:"agent" required:"true" doc:"The spec."`
	Parameters map[string]component.Template `yaml:"parameters" vars:"parameters,steps,@node" doc:"Its parameters."`
}

// notesConfig has a deprecated key.
type notesConfig struct {
	Folder string `yaml:"folder" doc:"Where they are kept."`
	Dir    string `yaml:"dir" deprecated:"write folder" doc:"Where they are kept."`
}

// keeper stores data between runs.
type keeper struct{ fakeTool }

func (keeper) SessionPart() memory.SessionPart { return memory.NotesPart }

var notes = component.New("notepad", "Keeps notes.", func() notesConfig { return notesConfig{} },
	func(c *notesConfig, s tool.Settings) (tool.Tool, error) {
		return keeper{fakeTool{tool.Info{Name: s.Name, Effect: tool.IdempotentEffect}, c}}, nil
	})

// fakeServer represents tools that only a running server lists.
type fakeServer struct{ fakeTool }

var _ tool.Toolset = fakeServer{}

func (fakeServer) List(context.Context, *tool.Call) (*tool.Listing, error) {
	return nil, errors.New("not asked")
}

func (s fakeServer) Bind(tool.Definition) tool.Tool { return s.fakeTool }

func (fakeServer) Rules() tool.Rules { return tool.Rules{} }

func (fakeServer) Close() error { return nil }

var servers = component.New("mcp", "A server.", func() noConfig { return noConfig{} },
	func(c *noConfig, s tool.Settings) (tool.Tool, error) {
		return fakeServer{fakeTool{tool.Info{Name: s.Name}, c}}, nil
	})

// Call implements engine.Requester: a finalizer asks for an answer of the output
// schema.
func (n fakeNode) Call(v engine.View) model.Call {
	f, ok := n.config.(*finalizerConfig)
	if !ok || v.Program.Output == nil {
		return model.Call{}
	}
	return model.Call{LLM: f.LLM.Name, Schema: &model.ReplySchema{Name: "answer", Schema: v.Program.Output.Schema.JSON}}
}

// UnenforcedKeywords implements model.SchemaHolder: objects must be closed.
func (c *openaiConfig) UnenforcedKeywords(_ model.Settings, schema json.RawMessage) component.Faults {
	var s struct {
		Additional *bool `json:"additionalProperties"`
		Properties map[string]map[string]any
	}
	if json.Unmarshal(schema, &s) != nil || s.Additional != nil {
		return nil
	}
	out := component.Faults{{At: "", Message: "the object allows additional properties", Hint: "write additionalProperties: false"}}
	if s.Properties["total"]["default"] != nil {
		out = append(out, component.Fault{At: "/properties/total/default", Message: "default is not supported", Hint: "remove it, and check it with output.ensures"})
	}
	return out
}
