package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/tool"
)

// With a model that replies at random, every request keeps tool calls and their results
// together, starts with the system prompt, contains the task, and is no longer than
// without compaction.
func TestCompactionNeverSplitsPairsOrGrowsRequests(t *testing.T) {
	shorter, summaries := 0, 0
	for seed := range uint64(60) {
		r := newRand(seed)
		c := engine.Compaction{}
		if r.IntN(2) == 0 {
			c.TruncateToolOutput = &engine.Truncation{When: over(r.IntN(600)), MaxBytes: 200}
		}
		if r.IntN(2) == 0 {
			c.Summarize = &engine.Summarization{When: over(r.IntN(900)), Keep: 1 + r.IntN(3), LLM: "main"}
		}
		if r.IntN(2) == 0 || c == (engine.Compaction{}) {
			c.SlidingWindow = &engine.Window{When: over(r.IntN(1200)), Keep: 1 + r.IntN(3)}
		}
		whole, short := wildRequests(t, seed, engine.Compaction{}), wildRequests(t, seed, c)
		for key, req := range short {
			if wrong := torn(req); wrong != "" {
				t.Errorf("seed %d, %s: %s", seed, key, wrong)
			}
			before := whole[key]
			switch {
			case req.Role == "summarizer":
				summaries++
			case before == nil:
				t.Errorf("seed %d, %s: no such request without compaction", seed, key)
			case tokens(req) > tokens(before):
				t.Errorf("seed %d, %s: %d tokens, %d without compaction", seed, key, tokens(req), tokens(before))
			case tokens(req) < tokens(before):
				shorter++
			}
		}
		if t.Failed() {
			return
		}
	}
	if shorter < 150 || summaries < 25 {
		t.Errorf("only %d requests were shortened and %d summaries made", shorter, summaries)
	}
}

func torn(req *model.Request) string {
	open := map[string]bool{}
	for i, m := range req.Messages {
		if (i == 0) != (m.Role == model.System) {
			return "a system prompt is at index " + fmt.Sprint(i)
		}
		if m.Role == model.ToolRole {
			if !open[m.CallID] {
				return "the result of " + m.CallID + " has no call"
			}
			delete(open, m.CallID)
			continue
		}
		if len(open) > 0 {
			return fmt.Sprintf("the calls %v have no result", open)
		}
		for _, c := range m.Calls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("the calls %v have no result", open)
	}
	for i := range req.Messages[1:] {
		if req.Messages[i].Role == model.Assistant && req.Messages[i+1].Role == model.Assistant {
			return "two replies follow one another"
		}
	}
	if req.Role == "executor" && !slices.ContainsFunc(req.Messages, func(m model.Message) bool {
		return m.Role == model.User && strings.Contains(m.Text.String(), req.Step) && strings.Contains(m.Text.String(), "Plan objective: ")
	}) {
		return "the step is not in it"
	}
	return ""
}

// wildRequests returns the requests of a run with a random model, keyed by role and
// purpose.
func wildRequests(t *testing.T, seed uint64, c engine.Compaction) map[string]*model.Request {
	t.Helper()
	m := &wildListener{wild: wild{seed}, textual: seed%3 == 0, seen: map[string]*model.Request{}}
	p := perProgram(t)
	p.Memory.Compaction = c
	p.Limits.MessageHistoryLimit = 100 // only the rules shorten prompts, not the limit
	if m.textual {
		x := node.Executor.Config().(*node.ExecutorConfig)
		x.LLM.Name, x.Mode = "main", "react_text"
		n, err := node.Executor.Build(x, engine.NodeSettings{ID: "executor", Batch: engine.OneStep})
		if err != nil {
			t.Fatal(err)
		}
		p.Nodes["executor"] = n
	}
	h := engine.Host{Models: map[string]model.Model{"main": m}, Tools: []tool.Binding{{Tool: longTool("look")}, {Tool: longTool("put")}}}
	runtime.Run(t.Context(), p, perInput, h, runtime.Options{})
	return m.seen
}

// wildListener is a model that mostly works on and occasionally replies at random.
type wildListener struct {
	wild    wild
	textual bool
	seen    map[string]*model.Request
}

func (m *wildListener) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	m.seen[fmt.Sprint(req.Role, " ", req.Call, " ", req.Step, " ", req.Key)] = req
	h := fnv.New64a()
	fmt.Fprint(h, req.Role, req.Call, req.Step)
	r := rand.New(rand.NewPCG(m.wild.seed, h.Sum64()))
	reply := &model.Reply{Stop: model.EndTurn}
	switch {
	case req.Role == "summarizer":
		reply.Text = strings.Repeat("notes ", r.IntN(60))
	case req.Role != "executor" && req.Call < 5:
		reply.Text = fmt.Sprintf(`{"steps": ["goal %d", "goal %d"], "result": ""}`, r.IntN(9), r.IntN(9))
	case r.IntN(8) == 0 || req.Role != "executor" || req.Call > 7:
		return m.wild.Generate(ctx, req, stream)
	case m.textual:
		reply.Text = fmt.Sprintf(`{"thought": "%s", "action": "look", "action_input": {"n": %d}}`, strings.Repeat("hm ", r.IntN(50)), req.Call)
	default:
		reply.Text, reply.Stop = strings.Repeat("hm ", r.IntN(50)), model.ToolUse
		for n := range 1 + r.IntN(3) {
			reply.Calls = append(reply.Calls, model.ToolCall{Name: []string{"look", "put", "nosuch"}[r.IntN(3)], Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n+req.Call))})
		}
	}
	return reply, nil
}

// longTool is a tool whose outputs have random lengths.
type longTool string

func (t longTool) Info() tool.Info {
	return tool.Info{Name: string(t), Effect: tool.ReadEffect, Input: json.RawMessage(`{"type":"object"}`)}
}

func (t longTool) Call(_ context.Context, c *tool.Call) (*tool.Output, error) {
	return &tool.Output{Text: string(t) + strings.Repeat(" gave", len(c.Path)%7*60)}, nil
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }
