package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// contextWindow is the maximum number of tokens per request.
const contextWindow = 5000

// ledger records what the vendors charged.
type ledger struct {
	mu     sync.Mutex
	calls  int // answers
	lost   int // attempts whose replies were lost but billed
	tokens model.Tokens
	usd    float64
	roles  map[string]int // answers by role
}

func (l *ledger) book(m *engine.ModelSpec, t model.Tokens, lost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lost {
		l.lost++
	} else {
		l.calls++
	}
	l.tokens = l.tokens.Plus(t)
	l.usd += m.Cost.Of(t)
}

func (l *ledger) answers() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls
}

func (l *ledger) by(role string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.roles == nil {
		l.roles = map[string]int{}
	}
	l.roles[role]++
}

// spite is a model that maximizes cost: it picks at random one of its role's ways to
// delay the end of the run.
type costlyModel struct {
	spec *engine.ModelSpec
	book *ledger
	seed uint64
	mean bool // never gives in, and knows the spec
	of   *exploitableSpec
}

// habits holds the properties of a spec that a cost-maximizing model can exploit.
type exploitableSpec struct {
	program *engine.Program
	repairs int // of plans
}

func (m costlyModel) Generate(ctx context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	h := fnv.New64a()
	fmt.Fprint(h, req.Key, req.Role, req.Call, req.PriorAttempts)
	r := rand.New(rand.NewPCG(m.seed, h.Sum64()))
	used := model.Tokens{Input: allowed(req), Output: req.Params.MaxOutputTokens}
	if r.IntN(2) == 0 {
		used.CacheWrite = used.Input
	}
	if err := m.fail(ctx, req, r, used); err != nil {
		return nil, err
	}
	m.book.book(m.spec, used, false)
	m.book.by(req.Role)
	reply := &model.Reply{Stop: model.EndTurn, Usage: used}
	switch req.Role {
	case "executor":
		m.act(reply, req, r)
	case "judge":
		reply.Text = `{"met": false, "reason": "no", "choice": "again", "confidence": 1}`
	case "summarizer":
		reply.Text = "x"
	case "finalizer":
		if reply.Text = "bad"; repairRequests(req) >= m.answers() {
			reply.Text = "good"
		}
	default:
		m.plan(reply, req, r)
	}
	return reply, nil
}

// allowed returns the input tokens that a vendor may charge: what the context window
// holds, and with a budget at most half a token per byte.
func allowed(req *model.Request) int {
	if !req.Metered {
		return contextWindow
	}
	bytes := 0
	for _, m := range req.Messages {
		bytes += m.Text.Len()
	}
	return min(contextWindow, bytes/2)
}

// fail loses replies as often as the retry policy and the run allow.
func (m costlyModel) fail(ctx context.Context, req *model.Request, r *rand.Rand, used model.Tokens) error {
	left := m.spec.Retry.MaxAttempts - req.PriorAttempts
	for n := 1; m.seed%4 != 0 && r.IntN(3) == 0; n++ {
		m.book.book(m.spec, used, true)
		if _, ok := model.RetriesOf(ctx).Take(); req.Metered || n >= left || !ok {
			return &model.Error{Kind: model.NetworkError, Message: "lost", Attempts: n}
		}
	}
	return nil
}

// asked returns how often a role that answers in one turn was asked again.
func repairRequests(req *model.Request) int { return (len(req.Messages) - 2) / 2 }

// answers returns how many answers may be repaired.
func (m costlyModel) answers() int {
	if out := m.of.program.Output; out != nil {
		return out.MaxAttempts
	}
	return 0
}

// act calls tools as long as it is asked, and finally reports a result that can be
// judged.
func (m costlyModel) act(reply *model.Reply, req *model.Request, r *rand.Rand) {
	if m.mean && req.Call%m.of.program.Limits.ExecutorMaxIterations == 0 || !m.mean && r.IntN(8) == 0 {
		reply.Text = "done"
		return
	}
	reply.Stop = model.ToolUse
	for range 1 + r.IntN(3) {
		tool := []string{"look", "nosuch", "look", "expert"}[r.IntN(4)]
		args := json.RawMessage(fmt.Sprintf(`{"question": "%d"}`, r.IntN(1000)))
		reply.Calls = append(reply.Calls, model.ToolCall{Name: tool, Args: args})
		reply.Text = fmt.Sprintf(`{"action": %q, "action_input": %s}`, tool, args)
	}
	if len(req.Tools) == 0 {
		reply.Calls = nil // by text
	}
}

// plan returns an unusable reply, an answer that does not match the output, or a plan of
// new steps.
func (m costlyModel) plan(reply *model.Reply, req *model.Request, r *rand.Rand) {
	n := r.IntN(10)
	if m.mean {
		switch again := repairRequests(req); {
		case again < m.of.repairs:
			n = 0
		case again < m.of.repairs+m.answers():
			n = 3
		default:
			n = 9
		}
	}
	switch {
	case n < 3, n < 5 && m.answers() == 0:
		reply.Text = "{"
	case n < 5:
		reply.Text = `{"steps": [], "result": "bad"}`
	case n == 5:
		reply.Text = `{"steps": [], "result": "good"}`
	default:
		var steps []string
		for range 1 + r.IntN(4) {
			steps = append(steps, fmt.Sprintf(`{"goal": "g%d", "tools": ["look"], "success": "never"}`, r.Uint64()))
		}
		reply.Text = `{"steps": [` + strings.Join(steps, ",") + `], "result": ""}`
	}
}

// looks is a read-only tool.
type lookTool struct{}

func (lookTool) Info() tool.Info {
	return tool.Info{Name: "look", Effect: tool.ReadEffect, Input: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string"},"n":{"type":"string"}},"required":["question","n"]}`)}
}

func (lookTool) Call(context.Context, *tool.Call) (*tool.Output, error) {
	return &tool.Output{Text: "seen"}, nil
}

// expert is a tool backed by another program.
type agentTool struct{ program *engine.Program }

func (agentTool) Info() tool.Info {
	return tool.Info{Name: "expert", Input: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string"}},"required":["question"]}`)}
}

func (agentTool) Call(context.Context, *tool.Call) (*tool.Output, error) { return nil, nil }

func (e agentTool) Program() *engine.Program { return e.program }

func (agentTool) Parameters(json.RawMessage, *tool.PlanContext) (map[string]any, error) {
	return map[string]any{"question": "q"}, nil
}

// WorstCase implements the estimate of a Config.
func (e agentTool) WorstCase() []engine.CallBound { return []engine.CallBound{{Agent: e.program}} }
