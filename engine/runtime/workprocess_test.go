package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/engine/tracecontext"
)

// services are what the processes of a run call.
type services struct {
	home   string // of artifacts
	memory enginetest.Store

	mu      sync.Mutex
	calls   map[string]int
	keys    []string
	vectors map[int]bool // stored by embeddingTool
}

// count counts a call and returns its number.
func (s *services) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[name]++
	return s.calls[name]
}

// called records the idempotency key of a call.
func (s *services) called(what, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, what+" "+key)
}

// canary is a secret that all services reply with.
const canary = "hunter2-hunter2"

// process is a process with a host made from nothing. One that does not perform effects has
// neither secrets nor stores.
type process struct {
	*testing.T
	*services
	performs bool
}

// allowed fails the test if the process does not perform effects.
func (p *process) allowed(what string) {
	if !p.performs {
		p.Errorf("%s: the process of the run performed an effect", what)
	}
}

// host returns the host of the process without models and tools.
func (p *process) host() engine.Host {
	if !p.performs {
		return engine.Host{Memory: &enginetest.Store{Err: errors.New("the process of the run has no memory")}}
	}
	return engine.Host{
		Memory: &p.memory, Artifacts: p.home, Secrets: secret.New(map[string]string{"TOKEN": canary}),
		Env: func(name string) string {
			return map[string]string{"TOKEN": canary, "PLAIN": "a <value> of the environment"}[name]
		},
	}
}

// workModel is a model of a process.
type workModel struct {
	*process
	reply func(ctx context.Context, req *model.Request) (*model.Reply, error)
}

func (m workModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	m.allowed("model " + req.Key)
	m.called("model", req.Key)
	if stream != nil {
		stream(model.Delta{Text: "a delta"})
	}
	return m.reply(ctx, req)
}

// models returns the models of a process; nil if it does not perform effects.
func (p *process) models(reply map[string]func(context.Context, *model.Request) (*model.Reply, error)) map[string]model.Model {
	if !p.performs {
		return nil
	}
	out := map[string]model.Model{}
	for name, f := range reply {
		out[name] = workModel{p, f}
	}
	return out
}

// tool returns a tool of a process.
func (p *process) tool(e tool.Effect, call func(context.Context, *tool.Call) (*tool.Output, error)) funcTool {
	return funcTool{e, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		p.allowed("tool " + c.Path)
		p.called("tool", c.Key)
		return call(ctx, c)
	}}
}

// received is a request as a model receives it.
func received(ctx context.Context, req *model.Request) string {
	var files []string
	for _, f := range req.Attachments() {
		files = append(files, fmt.Sprint(f.Name, " ", f.Tokens, " ", string(f.Content)))
	}
	return string(jsonvalue.Encode(map[string]any{
		"request": req, "key": req.Key, "files": files, "trace": tracecontext.Outgoing(ctx),
		"flags": fmt.Sprint(req.Fallback, req.Bounded, req.BoundBy, req.Metered, req.PriorAttempts), "secret": canary,
	}))
}

// echoes replies with the request.
func echoes(ctx context.Context, req *model.Request) (*model.Reply, error) {
	return &model.Reply{
		Text: received(ctx, req), Stop: model.ToolUse, Estimated: true, Uncounted: true, Sent: 7, Model: "m-1", ID: "reply-<1>", Attempts: 3, Latency: 5e6, FirstToken: 2e6,
		Usage: model.Tokens{Input: 900, Output: 30, Cached: 5, CacheWrite: 6, Reasoning: 7},
		Calls: []model.ToolCall{{ID: "c1", Name: "look", Args: json.RawMessage(`{"a": "<&>", "n": 12345678901234567890}`), Opaque: json.RawMessage(`{"signed": "<&>"}`)}, {Name: "look", Args: json.RawMessage(`{"torn`)}},
	}, nil
}
