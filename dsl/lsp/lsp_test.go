package lsp_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/lsp"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

type scriptConfig struct {
	Replies []any `yaml:"replies" doc:"The replies."`
}

func (*scriptConfig) AnswersOffline() {}

type roleConfig struct {
	LLM    component.ModelRef  `yaml:"llm" doc:"The llm."`
	Prompt component.PromptRef `yaml:"system_prompt" vars:"parameters,@system" doc:"Who it is."`
	Format string              `yaml:"plan_format" enum:"list|steps" doc:"What a plan is."`
	Tools  []string            `yaml:"tools" doc:"The tools."`
}

type emptyConfig struct{}

type fakeNode struct{}

func (fakeNode) Run(engine.Scope) error { return nil }

func role(typ string) component.Factory[engine.NodeSettings, engine.Node] {
	return component.New(typ, "A "+typ+".", func() roleConfig { return roleConfig{} },
		func(*roleConfig, engine.NodeSettings) (engine.Node, error) { return fakeNode{}, nil })
}

type fakeTool struct{ name string }

func (t fakeTool) Info() tool.Info {
	return tool.Info{Name: t.name, Effect: tool.ReadEffect}
}

func (fakeTool) Call(context.Context, *tool.Call) (*tool.Output, error) {
	return nil, errors.New("not called")
}

var catalog = engine.Catalog{
	Models: component.Set[model.Settings, model.Model]{
		component.New("scripted", "Replies from a script.", func() scriptConfig { return scriptConfig{} },
			func(*scriptConfig, model.Settings) (model.Model, error) { return nil, errors.New("not built") }),
	},
	Tools: component.Set[tool.Settings, tool.Tool]{
		component.New("clock", "Tells the time.", func() emptyConfig { return emptyConfig{} },
			func(_ *emptyConfig, s tool.Settings) (tool.Tool, error) { return fakeTool{s.Name}, nil }),
	},
	Nodes: component.Set[engine.NodeSettings, engine.Node]{role("planner"), role("executor"), role("reflector"), role("finalizer")},
}

// client is connected to its own server.
type client struct {
	*jrpc2.Client
	t     *testing.T
	told  chan published
	ended chan error
	log   *strings.Builder
}

type published struct {
	URI         string `json:"uri"`
	Version     int    `json:"version"`
	Diagnostics []struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Tags    []int  `json:"tags"`
		Range   struct {
			Start, End struct{ Line, Character int }
		} `json:"range"`
	} `json:"diagnostics"`
}

func connect(t *testing.T, o dsl.Options) *client {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c := &client{t: t, told: make(chan published, 1000), ended: make(chan error, 1), log: &strings.Builder{}}
	o.Catalog = catalog
	go func() {
		c.ended <- lsp.Serve(context.Background(), in, out, lsp.Options{Spec: o, Version: "test", Log: c.log})
	}()
	c.Client = jrpc2.NewClient(channel.LSP(fromServer, toServer), &jrpc2.ClientOptions{OnNotify: func(r *jrpc2.Request) {
		var p published
		if r.Method() == "textDocument/publishDiagnostics" && r.UnmarshalParams(&p) == nil {
			c.told <- p
		}
	}})
	t.Cleanup(func() {
		_ = fromServer.Close() // unread output is discarded
		_ = c.Close()          // the test is over
		<-c.ended
		if c.log.Len() > 0 {
			t.Errorf("the log says: %s", c.log)
		}
	})
	return c
}

type object map[string]any

// begin sends initialize with client capabilities.
func (c *client) begin(capabilities object) {
	c.t.Helper()
	c.ask("initialize", object{"capabilities": capabilities}, nil)
	c.tell("initialized", object{})
}

func (c *client) ask(method string, params, into any) {
	c.t.Helper()
	r, err := c.Call(context.Background(), method, params)
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	if into != nil {
		if err := r.UnmarshalResult(into); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *client) tell(method string, params any) {
	c.t.Helper()
	if err := c.Notify(context.Background(), method, params); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) open(uri, text string, version int) {
	c.t.Helper()
	c.tell("textDocument/didOpen", object{"textDocument": object{"uri": uri, "languageId": "yaml", "version": version, "text": text}})
}

// diagnostics waits for the diagnostics of a version of a document; 0 means any.
func (c *client) diagnostics(uri string, version int) published {
	c.t.Helper()
	for p := range c.told {
		if p.URI == uri && (version == 0 || p.Version == version) {
			return p
		}
	}
	return published{}
}

func at(uri string, line, character int) object {
	return object{"textDocument": object{"uri": uri}, "position": object{"line": line, "character": character}}
}

// project creates files in a temporary folder.
func project(t *testing.T, files map[string]string) (uri func(name string) string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) string { return "file://" + filepath.ToSlash(filepath.Join(dir, name)) }
}

func codes(p published) string {
	var out []string
	for _, d := range p.Diagnostics {
		out = append(out, d.Code)
	}
	return strings.Join(out, " ")
}

const spec = `apiVersion: pex/v1
kind: Agent
metadata: {name: x}
parameters: {tier: {type: string, default: gold}}
llms: {main: {provider: scripted}}
tools: {clock: {}}
`
