package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/engine/tracecontext"
)

// toolCalls is a node that calls tools one after the other, and records the results.
func toolCalls(calls ...engine.Invocation) nodeFunc {
	return func(s engine.Scope) error {
		for i, c := range calls {
			rec, wrote, err := s.Tool(fmt.Sprint("tool.", i), c)
			if err != nil {
				return err
			}
			says(s, "%s %v: %s", rec.Status, wrote, rec.Text())
		}
		return done(s)
	}
}

// echoCall returns all that a tool receives.
func echoCall(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	c.Progress("working with " + canary)
	got := map[string]any{"args": string(c.Args), "key": c.Key, "run": c.RunID, "path": c.Path, "trace": tracecontext.Outgoing(ctx), "secret": canary}
	if c.Context != nil {
		got["context"], got["prose"] = c.Context, c.Context.Text
	}
	for name, path := range c.Files {
		content, err := os.ReadFile(path)
		got["file "+name] = fmt.Sprint(string(content), err)
	}
	for _, name := range []string{"args a", "args n", "parameters question", "parameters big", "parameters million", "parameters half", "env TOKEN", "env PLAIN", "env NONE"} {
		ns, key, _ := strings.Cut(name, " ")
		v, ok := c.Lookup(ns, key)
		got[name] = fmt.Sprint(v, ok)
	}
	if c.Redacted != nil {
		got["redacted"] = c.Redacted(tool.Definition{Name: "n", Description: canary})
	}
	if c.Report != nil {
		c.Report(tool.RemoteCall{Protocol: "mcp", Method: "tools/call", Target: "t", Transport: "tcp", Address: "a", Port: 8, Version: "v", Session: "s"})
	}
	return &tool.Output{Text: "all of it", Data: jsonvalue.Encode(got)}, nil
}

// remoteTool is a tool.RemoteCaller.
type remoteTool struct{ funcTool }

func (remoteTool) Remote() tool.RemoteCall { return tool.RemoteCall{Protocol: "mcp"} }

// toolRun calls tools with all that a call can have, and tools with each kind of output.
func toolRun() workRun {
	outputs := map[string]*tool.Output{
		"text": {Text: "a <text> & " + canary + " \u2028"}, "invalid": {Text: "a\xff\u2028b"}, "data": {Data: json.RawMessage(`{"b": 1.50, "a": [12345678901234567890, "<&>"], "t": "` + canary + `"}`)},
		"none": nil, "empty": {}, "long": {Text: strings.Repeat("word ", 1000)}, "filtered": {Data: json.RawMessage(`{"a":{"b":[1,2,"<"]}}`)}, "unfiltered": {Text: "no JSON"},
	}
	names := []string{"text", "invalid", "data", "none", "empty", "long", "filtered", "unfiltered"}
	calls := []engine.Invocation{{Tool: "echo"}, {
		Tool: "echo", StepID: "s1", CallID: "c1", Args: json.RawMessage(`{"n":12345678901234567890,"a":"<&> \u2028"}`),
		Context: &tool.PlanContext{
			Objective: "o", Goal: "g", Context: "c", Success: "s", Truncated: true, Text: "# The plan\n<as> text",
			Plan: []tool.PlanContextStep{{ID: "s1", Goal: "g", Status: "current", Result: "r"}},
		},
	}}
	for _, name := range names {
		calls = append(calls, engine.Invocation{Tool: name})
	}
	return workRun{
		name: "tools", inputs: []func(*engine.Input){withFile, func(in *engine.Input) { in.Trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00" }},
		build: func(p *process) (*engine.Program, engine.Host) {
			h := p.host()
			echo := named("echo", remoteTool{p.tool(tool.IdempotentEffect, echoCall)})
			h.Tools = []tool.Binding{echo}
			for _, name := range names {
				b := named(name, p.tool(tool.WriteEffect, func(context.Context, *tool.Call) (*tool.Output, error) { return outputs[name], nil }))
				b.Spec.MaxOutputBytes, b.Spec.Effect = 500, map[string]tool.Effect{"text": tool.ReadEffect, "data": tool.IdempotentEffect}[name]
				if strings.HasSuffix(name, "filtered") {
					b.Spec.OutputFilter.Source = "$.a.b"
					b.Spec.OutputFilter.Bind(func(v any) ([]any, error) { return v.(map[string]any)["a"].(map[string]any)["b"].([]any)[1:], nil })
				}
				h.Tools = append(h.Tools, b)
			}
			return program(map[string]nodeFunc{"a": toolCalls(calls...)}), h
		},
	}
}

// toolErrorRuns call tools that fail in each way.
func toolErrorRuns() (out []workRun) {
	fails := map[string]func(context.Context) error{
		"a failure": func(context.Context) error { return errors.New("exit status 1: " + canary) }, "an unknown outcome": func(context.Context) error { return tool.UnknownOutcome(errReset) },
		"unavailable": func(context.Context) error { return tool.Unavailable(errReset) }, "too late": hang, "too late, but undone": func(ctx context.Context) error { return tool.Definite(hang(ctx)) },
	}
	for name, fail := range fails {
		for _, effect := range []tool.Effect{tool.ReadEffect, tool.IdempotentEffect, tool.WriteEffect} {
			for _, unknown := range []tool.OnUnknown{tool.ReviewUnknown, tool.ContinueUnknown} {
				if effect == tool.WriteEffect && unknown == tool.ReviewUnknown && name != "a failure" {
					continue // the run waits for a human, whose decision the next case tests
				}
				out = append(out, workRun{name: fmt.Sprintf("%s of %s, %s", name, effect, unknown), counts: true, build: func(p *process) (*engine.Program, engine.Host) {
					h := p.host()
					b := named("t", p.tool(effect, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
						if p.count(string(c.Args)) <= 2 {
							return nil, fail(ctx)
						}
						return &tool.Output{Text: "at last"}, nil
					}))
					b.Spec.OnUnknown, b.Spec.Retry = unknown, retry.Policy{MaxAttempts: 2, InitialDelay: 1}
					if strings.HasPrefix(name, "too late") {
						b.Spec.Timeout = time.Millisecond
					}
					h.Tools = []tool.Binding{b}
					again := engine.Invocation{Tool: "t", Args: json.RawMessage(`{"n":1}`)}
					return program(map[string]nodeFunc{"a": toolCalls(again, again, again)}), h
				}})
			}
		}
	}
	return out
}

// questionsRun calls a tool that asks two questions, which humans answer in later sessions.
func questionsRun() workRun {
	return workRun{
		name: "questions of a tool that reads", answers: map[string]string{"tool.0.ask": "red <and> blue", "tool.0.ask.2": `json:{"n": 12345678901234567890}`},
		build: func(p *process) (*engine.Program, engine.Host) {
			h := p.host()
			asking := named("asks", p.tool(tool.ReadEffect, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
				first, err := c.Ask(ctx, interrupt.Question{Question: "Which colour? " + canary, Args: json.RawMessage(`{"of": ["<red>", "blue"]}`)})
				if err != nil {
					return nil, err
				}
				second, err := c.Ask(ctx, interrupt.Question{Kind: interrupt.Human, Question: "And after " + first.Answer() + "?"})
				if err != nil {
					return nil, err
				}
				return &tool.Output{Text: string(jsonvalue.Encode([]any{first, second}))}, nil
			}))
			h.Tools = []tool.Binding{asking}
			return program(map[string]nodeFunc{"a": toolCalls(engine.Invocation{Tool: "asks"})}), h
		},
	}
}

// server returns a tool server of a process, with overrides and excluded tools.
func (p *process) server(may tool.Sampling, call func(context.Context, string, *tool.Call) (*tool.Output, error)) *enginetest.Toolset {
	yes := true
	set := &enginetest.Toolset{
		Server: "server 1.0",
		Tools: []tool.Definition{
			{Name: "look up", Title: "Look", Description: "Looks <up>, knows " + canary, Input: json.RawMessage(`{"type":"object", "title":"<&>"}`), Output: json.RawMessage(`{"type":"object"}`), Hints: tool.Hints{ReadOnly: &yes, OpenWorld: &yes}},
			{Name: "change", Input: json.RawMessage(`{"type":"object"}`), Hints: tool.Hints{Destructive: &yes}},
			{Name: "resources", BuiltIn: true, Input: json.RawMessage(`{"type":"object"}`)},
			{Name: "hidden"},
		},
		ToolRules: tool.Rules{
			Exclude: []string{"hidden"}, Sampling: may,
			Overrides: []tool.Override{{Name: "look up", Description: "Is overridden.", Effect: tool.ReadEffect}, {Name: "change", OnUnknown: tool.ContinueUnknown}, {Name: "missing"}},
		},
	}
	set.Respond = func(ctx context.Context, name string, c *tool.Call) (*tool.Output, error) {
		p.allowed("tool " + c.Path)
		p.called("member", c.Key)
		return call(ctx, name, c)
	}
	return set
}

// serverRun calls the tools of a pinned server.
func serverRun() workRun {
	return workRun{name: "a tool server", build: func(p *process) (*engine.Program, engine.Host) {
		h := p.host()
		srv := named("srv", p.server(tool.Sampling{}, func(ctx context.Context, name string, c *tool.Call) (*tool.Output, error) {
			if name == "change" {
				return nil, tool.UnknownOutcome(errors.New("lost " + canary))
			}
			return echoCall(ctx, c)
		}))
		srv.Pinned = func(l *tool.Listing) error {
			if p.allowed("listing"); len(l.Tools) != 4 {
				return tool.ErrChanged
			}
			return nil
		}
		h.Tools = []tool.Binding{srv}
		return program(map[string]nodeFunc{"a": toolCalls(
			engine.Invocation{Tool: "srv__look_up", Args: json.RawMessage(`{"a":"<"}`)}, engine.Invocation{Tool: "srv__change"}, engine.Invocation{Tool: "srv__change"},
			engine.Invocation{Tool: "srv__resources"}, engine.Invocation{Tool: "srv__hidden"},
		)}), h
	}}
}

// brokenServerRun has a server that cannot be listed, and one whose tools have changed.
func brokenServerRun() workRun {
	return workRun{name: "tool servers without tools", build: func(p *process) (*engine.Program, engine.Host) {
		h := p.host()
		down := named("down", &enginetest.Toolset{ListError: errors.New("no route, " + canary)})
		changed := named("changed", p.server(tool.Sampling{}, nil))
		changed.Pinned = func(*tool.Listing) error { return fmt.Errorf("%w: %s", tool.ErrChanged, canary) }
		h.Tools = []tool.Binding{down, changed}
		return program(map[string]nodeFunc{"a": done}), h
	}}
}

// samplingRun lets a tool call a model.
func samplingRun(l engine.Limits) workRun {
	return workRun{name: fmt.Sprint("sampling, max_tokens ", l.MaxTokens), build: func(p *process) (*engine.Program, engine.Host) {
		h := p.host()
		h.Models = p.models(map[string]func(context.Context, *model.Request) (*model.Reply, error){"main": func(ctx context.Context, req *model.Request) (*model.Reply, error) {
			if strings.Contains(req.Messages[0].Text.String(), "fail") {
				return nil, &model.Error{Kind: model.Truncated, Message: "torn " + canary}
			}
			return echoes(ctx, req)
		}})
		h.Tools = []tool.Binding{named("srv", p.server(tool.Sampling{LLM: "main", MaxCalls: 3, MaxTokens: 4000}, func(ctx context.Context, _ string, c *tool.Call) (*tool.Output, error) {
			var texts []string
			for _, text := range []string{"one", "fail", "two", "too many"} {
				reply, err := c.Sample(ctx, []model.Message{{Role: model.User, Text: model.Text{text}}}, 50)
				texts = append(texts, string(jsonvalue.Encode(reply)), fmt.Sprint(err))
			}
			return &tool.Output{Text: strings.Join(texts, "\n")}, nil
		}))}
		prog := withLimits(program(map[string]nodeFunc{"a": toolCalls(engine.Invocation{Tool: "srv__look_up"}, engine.Invocation{Tool: "srv__look_up"})}), l)
		prog.Models = []engine.ModelSpec{{Name: "main", Cost: &model.Cost{Input: 1, Output: 2}, Params: model.Params{Model: "small", MaxOutputTokens: 400}}}
		return prog, h
	}}
}

// vectorsRun calls a tool that stores embeddings.
func vectorsRun(name string, l engine.Limits) workRun {
	return workRun{name: "embeddings " + name, counts: true, build: func(p *process) (*engine.Program, engine.Host) {
		h := p.host()
		if p.performs {
			h.Embedders = map[string]model.Embedder{"v": &fakeEmbedder{}}
		}
		f := &embeddingTool{want: []int{4000, 400}, stored: p.vectors}
		b := f.tool()
		b.Tool = p.tool(tool.ReadEffect, f.call)
		h.Tools = []tool.Binding{b}
		prog := withLimits(program(map[string]nodeFunc{"a": toolCalls(engine.Invocation{Tool: "shelf"}, engine.Invocation{Tool: "shelf"})}), l)
		prog.Models = []engine.ModelSpec{{Name: "v", Cost: &model.Cost{Input: 2}}}
		return prog, h
	}}
}
