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

// contextWindow is the tokens that a request to the spiteful may have.
const contextWindow = 5000

// ledger is what vendors have charged, in their own book.
type ledger struct {
	mu     sync.Mutex
	calls  int // answers
	lost   int // attempts whose answers got lost, and are billed
	tokens model.Tokens
	usd    float64
	roles  map[string]int // answers, by who asked
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

// spite is a model that costs what it can: in every way of not coming to an end
// that its role has, which of them is chance.
type spite struct {
	spec *engine.ModelSpec
	book *ledger
	seed uint64
	mean bool // it never gives in, and knows the spec
	of   *habits
}

// habits is what there is to know of a spec for who wants to be asked most.
type habits struct {
	program *engine.Program
	repairs int // of plans
}

func (m spite) Generate(ctx context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
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
		if reply.Text = "bad"; asked(req) >= m.answers() {
			reply.Text = "good"
		}
	default:
		m.plan(reply, req, r)
	}
	return reply, nil
}

// allowed is the input that a vendor may charge: what the model takes in, and for
// who has a budget no more than half a token for each byte.
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

// fail loses answers: as often as the llm's policy and the run let it.
func (m spite) fail(ctx context.Context, req *model.Request, r *rand.Rand, used model.Tokens) error {
	left := m.spec.Retry.MaxAttempts - req.PriorAttempts
	for n := 1; m.seed%4 != 0 && r.IntN(3) == 0; n++ {
		m.book.book(m.spec, used, true)
		if _, ok := model.RetriesOf(ctx).Take(); req.Metered || n >= left || !ok {
			return &model.Error{Kind: model.NetworkError, Message: "lost", Attempts: n}
		}
	}
	return nil
}

// asked is how often a role was asked again that answers in one turn.
func asked(req *model.Request) int { return (len(req.Messages) - 2) / 2 }

// answers is how many answers may be mended.
func (m spite) answers() int {
	if out := m.of.program.Output; out != nil {
		return out.MaxAttempts
	}
	return 0
}

// act calls tools for as long as it is asked, and reports at last, so that there
// is something to judge.
func (m spite) act(reply *model.Reply, req *model.Request, r *rand.Rand) {
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

// plan is what cannot be used, an answer that the output does not take, or a plan
// of new steps.
func (m spite) plan(reply *model.Reply, req *model.Request, r *rand.Rand) {
	n := r.IntN(10)
	if m.mean {
		switch again := asked(req); {
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

// looks is a tool.
type looks struct{}

func (looks) Info() tool.Info {
	return tool.Info{Name: "look", Effect: tool.ReadEffect, Input: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string"},"n":{"type":"string"}},"required":["question","n"]}`)}
}

func (looks) Call(context.Context, *tool.Call) (*tool.Output, error) {
	return &tool.Output{Text: "seen"}, nil
}

// expert is a tool that another program answers.
type expert struct{ program *engine.Program }

func (expert) Info() tool.Info {
	return tool.Info{Name: "expert", Input: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string"}},"required":["question"]}`)}
}

func (expert) Call(context.Context, *tool.Call) (*tool.Output, error) { return nil, nil }

func (e expert) Program() *engine.Program { return e.program }

func (expert) Parameters(json.RawMessage, *tool.PlanContext) (map[string]any, error) {
	return map[string]any{"question": "q"}, nil
}

// WorstCase makes it a Config too.
func (e expert) WorstCase() []engine.Ask { return []engine.Ask{{Agent: e.program}} }
