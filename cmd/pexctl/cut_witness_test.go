package main

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/tool"
)

// witness records the outputs of tools by path, for questions about their
// outcome.
type witness map[string]*tool.Output

// watch returns a host whose tools, and those of its nested agents, the witness records.
func (w witness) watch(h engine.Host) engine.Host {
	h.Tools = w.at(h.Tools)
	if nested := h.Nested; nested != nil {
		h.Nested = func(p *engine.Program, parameters map[string]any) (engine.Host, error) {
			host, err := nested(p, parameters)
			return w.watch(host), err
		}
	}
	return h
}

// at wraps tools so that the witness records every call.
func (w witness) at(tools []tool.Binding) []tool.Binding {
	tools = slices.Clone(tools)
	for i, t := range tools {
		_, asks := t.Tool.(tool.HumanTool)
		_, session := t.Tool.(tool.SessionKeeper)
		_, agent := t.Tool.(engine.AgentTool)
		if !asks && !session && !agent {
			tools[i].Tool = watched{t.Tool, w}
		}
	}
	return tools
}

type watched struct {
	tool.Tool
	by witness
}

var calls sync.Mutex // tools are called concurrently

// Call implements tool.Tool.
func (t watched) Call(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	out, err := t.Tool.Call(ctx, c)
	if err == nil {
		calls.Lock()
		defer calls.Unlock()
		t.by[c.Path] = out
	}
	return out, err
}

// stopped makes the tool clock return the same time in every session of a run.
func stopped(tools []tool.Binding) []tool.Binding {
	tools = slices.Clone(tools)
	for i, t := range tools {
		if t.Spec.Name == "clock" {
			tools[i].Tool = stoppedClock{t.Tool, map[string]*tool.Output{}}
		}
	}
	return tools
}

type stoppedClock struct {
	tool.Tool
	told map[string]*tool.Output
}

// Call implements tool.Tool.
func (s stoppedClock) Call(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	calls.Lock()
	defer calls.Unlock()
	if out := s.told[string(c.Args)]; out != nil {
		return out, nil
	}
	out, err := s.Tool.Call(ctx, c)
	if err == nil {
		s.told[string(c.Args)] = out
	}
	return out, err
}

// answers returns the answers to questions: yes to everything. For a write with
// an unknown outcome it gives the recorded output, or asks to repeat the write.
func (w witness) answers(open []interrupt.Question) (answers map[string]json.RawMessage, resolve map[string]string) {
	calls.Lock()
	defer calls.Unlock()
	answers, resolve = map[string]json.RawMessage{}, map[string]string{}
	for _, q := range open {
		if q.Kind == interrupt.Review {
			resolve[q.Path] = "redo"
			if out := w[q.Path]; out != nil {
				resolve[q.Path] = "done:" + writtenDown(out)
			}
			continue
		}
		text := "approve"
		if q.Kind == interrupt.Human || q.Kind == interrupt.User {
			text = "yes"
		}
		answers[q.Path] = json.RawMessage(encode(interrupt.Parse(text)))
	}
	return answers, resolve
}

// writtenDown returns a tool's output in the form in which a user enters it.
func writtenDown(out *tool.Output) string {
	if len(out.Data) > 0 {
		return string(out.Data)
	}
	return encode(out.Text)
}
