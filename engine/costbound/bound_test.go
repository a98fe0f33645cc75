package costbound_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// boundedNode is a node with the given worst case.
type boundedNode engine.WorstCase

func (boundedNode) Run(engine.Scope) error                       { return nil }
func (a boundedNode) WorstCase(*engine.Program) engine.WorstCase { return engine.WorstCase(a) }

// finalizer also writes the answer at a limit.
type finalizer struct{ boundedNode }

func (finalizer) FinalizeAnswer(engine.Scope, string) error { return nil }

// unboundedNode is a node without a worst case.
type unboundedNode struct{}

func (unboundedNode) Run(engine.Scope) error { return nil }

type unboundedFinalizer struct{ unboundedNode }

func (unboundedFinalizer) FinalizeAnswer(engine.Scope, string) error { return nil }

// config is a tool's Config with the given worst case.
type config []engine.CallBound

func (c config) WorstCase() []engine.CallBound { return c }

// program returns a program with the nodes a, b, ... in sequence. The LLM m has 10 output
// tokens and costs $1 and $2 per million tokens.
func program(nodes ...engine.Node) *engine.Program {
	p := &engine.Program{
		Name: "p", Nodes: map[string]engine.Node{}, Graph: &graph.Graph[engine.Condition]{Start: "a"},
		Limits: engine.Limits{MaxSteps: 5},
		Models: []engine.ModelSpec{{Name: "m", Params: model.Params{MaxOutputTokens: 10}, Cost: &model.Cost{Input: 1, Output: 2}}},
	}
	for i, n := range nodes {
		id := string(rune('a' + i))
		p.Nodes[id] = n
		p.Graph.Nodes = append(p.Graph.Nodes, graph.Node{ID: id, Type: "fake"})
		if i > 0 {
			p.Graph.Edges = append(p.Graph.Edges, graph.Edge[engine.Condition]{From: string(rune('a' + i - 1)), To: id})
		}
	}
	return p
}

func times(n int, path string) []engine.Factor {
	return []engine.Factor{{N: n, Text: path, Paths: []string{path}}}
}

func calls(n int) boundedNode {
	return boundedNode{Visit: []engine.CallBound{{Role: "r", LLM: "m", Times: times(n, "limits.n")}}}
}

var hundred = costbound.Options{Context: 100}

func TestBoundAddsUp(t *testing.T) {
	inner := program(calls(3))
	inner.Name = "inner"
	expert := tool.Spec{Name: "expert", Config: config{{Agent: inner}}}
	tests := []struct {
		name   string
		p      *engine.Program
		change func(*engine.Program)
		calls  int
		extra  int
		tokens int
		usd    float64
	}{
		{"calls", program(calls(4)), nil, 4, 0, 440, 480e-6},
		{"nodes one after another", program(calls(4), calls(1)), nil, 5, 0, 550, 600e-6},
		{"steps", program(boundedNode{Starts: engine.StartsOpen, Step: calls(2).Visit}), nil, 10, 0, 1100, 1200e-6},
		{"a step node comes once", program(boundedNode{Starts: engine.StartsOne, Step: calls(2).Visit}), nil, 2, 0, 220, 240e-6},
		{
			"the dearest of those that it falls back to, and the others beside it", program(calls(4)),
			func(p *engine.Program) {
				p.Models[0].Fallback = []string{"big"}
				p.Models = append(p.Models, engine.ModelSpec{Name: "big", Params: model.Params{MaxOutputTokens: 90}, Cost: &model.Cost{Input: 10, Output: 10}})
			}, 4, 4, 1200, 4 * (120e-6 + 1900e-6),
		},
		{"what may be repeated", program(calls(4)), func(p *engine.Program) { p.Models[0].Retry.MaxAttempts = 3 }, 4, 8, 1320, 1440e-6},
		{"no more is repeated than a run may", program(calls(100)), func(p *engine.Program) { p.Models[0].Retry.MaxAttempts = 3 }, 100, 20, 120 * 110, 120 * 120e-6},
		{"an agent", program(boundedNode{Visit: []engine.CallBound{{Agent: inner, Times: times(2, "x")}}}), nil, 6, 0, 660, 720e-6},
		{"tools", program(boundedNode{Visit: []engine.CallBound{{Tools: []string{"expert"}, Times: times(2, "x")}}}), func(p *engine.Program) { p.Tools = []tool.Spec{expert} }, 6, 0, 660, 720e-6},
		{
			"tools whose calls a limit counts", program(boundedNode{Visit: []engine.CallBound{{Tools: []string{"expert", "other"}, Times: times(9, "x"), Unbounded: "any number"}}}),
			func(p *engine.Program) {
				p.Tools, p.Limits.MaxToolCalls = []tool.Spec{expert, {Name: "other", Config: config{{Role: "tool", LLM: "m"}}}}, 3
			}, 9, 0, 990, 1080e-6,
		},
		{
			"what a server asks", program(boundedNode{Visit: []engine.CallBound{{Tools: []string{"s"}}}}),
			func(p *engine.Program) {
				p.Tools = []tool.Spec{{Name: "s", Config: config(engine.SamplingBounds(tool.Sampling{LLM: "m", MaxCalls: 5, MaxTokens: 1000}, 1))}}
			}, 5, 0, 5000, 5 * 2000e-6,
		},
		{
			"the answer at a limit", program(calls(1)),
			func(p *engine.Program) { p.Nodes["finalizer"] = finalizer{calls(2)} }, 3, 0, 330, 360e-6,
		},
		{"a limit on tokens, and what these cost at most", program(calls(4)), func(p *engine.Program) { p.Limits.MaxTokens = 200 }, 4, 0, 200, 400e-6},
		{"a limit on cost", program(calls(4)), func(p *engine.Program) { p.Limits.MaxCost = 100e-6 }, 4, 0, 440, 100e-6},
		{
			"limits of an agent", program(boundedNode{Visit: []engine.CallBound{{Agent: func() *engine.Program {
				p := program(calls(3))
				p.Limits.MaxTokens = 100
				return p
			}(), Times: times(2, "x")}}}), nil, 6, 0, 200, 400e-6,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.change != nil {
				tt.change(tt.p)
			}
			got := costbound.Bound(tt.p, hundred).Limited
			got.Input, got.Output = costbound.Count{}, costbound.Count{}
			want := costbound.Totals{
				Calls: costbound.Count{Most: tt.calls}, Extra: costbound.Count{Most: tt.extra},
				Tokens: costbound.Count{Most: tt.tokens}, Cost: costbound.Money{Most: tt.usd},
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnboundedQuantityHasAReason(t *testing.T) {
	tests := []struct {
		name   string
		p      *engine.Program
		change func(*engine.Program)
		o      costbound.Options
		of     func(costbound.Totals) string
		want   string
	}{
		{"a node that does not tell", program(unboundedNode{}), nil, hundred, func(t costbound.Totals) string { return t.Calls.Unbounded }, "the calls of node a are not known"},
		{"a closing node that does not tell", program(calls(1)), func(p *engine.Program) { p.Nodes["finalizer"] = unboundedFinalizer{} }, hundred, func(t costbound.Totals) string { return t.Cost.Unbounded }, "the calls of the finalizer are not known"},
		{"an unknown window", program(calls(1)), nil, costbound.Options{}, func(t costbound.Totals) string { return t.Input.Unbounded }, `requests to LLM "m" have no size limit`},
		{"no bound of output", program(calls(1)), func(p *engine.Program) { p.Models[0].Params = model.Params{} }, hundred, func(t costbound.Totals) string { return t.Cost.Unbounded }, `LLM "m" has no max_output_tokens`},
		{"no price", program(calls(1)), func(p *engine.Program) { p.Models[0].Cost = nil }, hundred, func(t costbound.Totals) string { return t.Cost.Unbounded }, `LLM "m" has no price`},
		{"no price, under a limit that cannot count it", program(calls(1)), func(p *engine.Program) { p.Models[0].Cost, p.Limits.MaxCost = nil, 1 }, hundred, func(t costbound.Totals) string { return t.Cost.Unbounded }, `LLM "m" has no price`},
		{
			"any number of calls", program(boundedNode{Visit: []engine.CallBound{{Tools: []string{"s"}, Unbounded: "any number"}}}),
			func(p *engine.Program) { p.Tools = []tool.Spec{{Name: "s", Config: config(calls(1).Visit)}} }, hundred,
			func(t costbound.Totals) string { return t.Calls.Unbounded }, "any number",
		},
		{
			"a tool that does not tell", program(boundedNode{Visit: []engine.CallBound{{Tools: []string{"s"}}}}),
			func(p *engine.Program) { p.Tools = []tool.Spec{{Name: "s", LLMs: []string{"m"}}} }, hundred,
			func(t costbound.Totals) string { return t.Calls.Unbounded }, "the calls of tool s to m are not known",
		},
		{"an llm that there is not", program(boundedNode{Visit: []engine.CallBound{{LLM: "n"}}}), nil, hundred, func(t costbound.Totals) string { return t.Tokens.Unbounded }, "undefined LLM n"},
		{"more than can be counted", program(calls(1 << 60)), nil, hundred, func(t costbound.Totals) string { return t.Calls.Unbounded }, "the number is too large to count"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.change != nil {
				tt.change(tt.p)
			}
			if got := tt.of(costbound.Bound(tt.p, tt.o).Limited); !strings.Contains(got, tt.want) {
				t.Errorf("%q does not contain %q", got, tt.want)
			}
		})
	}
}

func TestBudgetBoundsTheOutputOfEveryCall(t *testing.T) {
	p := program(calls(2))
	p.Models[0].Params, p.Limits.MaxCost = model.Params{}, 1
	if got := costbound.Bound(p, hundred).Total.Output; got != (costbound.Count{Most: 2 * model.DefaultOutput}) {
		t.Errorf("output %+v", got)
	}
	p.Models[0].Cost = &model.Cost{Input: 1, Output: 2, MaxOutput: 9000}
	if got := costbound.Bound(p, hundred).Total.Output; got != (costbound.Count{Most: 2 * 9000}) {
		t.Errorf("output %+v of a model with a known maximum", got)
	}
}

// TestVectorsAreNoCalls: nothing says what they are made of, so only limits, and a
// price of nothing, bound them.
func TestVectorsAreNotCalls(t *testing.T) {
	const unknown = "the input of the embedding LLM m is not limited"
	tests := []struct {
		name   string
		change func(*engine.Program)
		want   costbound.Totals
	}{
		{"no limits", func(*engine.Program) {}, costbound.Totals{
			Calls: costbound.Count{Most: 1}, Input: costbound.Count{Unbounded: unknown}, Output: costbound.Count{Most: 10},
			Tokens: costbound.Count{Unbounded: unknown}, Cost: costbound.Money{Unbounded: unknown},
		}},
		{"a limit on tokens", func(p *engine.Program) { p.Limits.MaxTokens = 200 }, costbound.Totals{
			Calls: costbound.Count{Most: 1}, Input: costbound.Count{Most: 200}, Output: costbound.Count{Most: 10},
			Tokens: costbound.Count{Most: 200}, Cost: costbound.Money{Most: 400e-6},
		}},
		{"a limit on cost", func(p *engine.Program) { p.Limits.MaxCost = 1 }, costbound.Totals{
			Calls: costbound.Count{Most: 1}, Input: costbound.Count{Unbounded: unknown}, Output: costbound.Count{Most: 10},
			Tokens: costbound.Count{Unbounded: unknown}, Cost: costbound.Money{Most: 1},
		}},
		{"for nothing", func(p *engine.Program) { p.Models[0].Cost = &model.Cost{} }, costbound.Totals{
			Calls: costbound.Count{Most: 1}, Input: costbound.Count{Unbounded: unknown}, Output: costbound.Count{Most: 10},
			Tokens: costbound.Count{Unbounded: unknown},
		}},
		{"no price", func(p *engine.Program) { p.Models[0].Cost = nil }, costbound.Totals{
			Calls: costbound.Count{Most: 1}, Input: costbound.Count{Unbounded: unknown}, Output: costbound.Count{Most: 10},
			Tokens: costbound.Count{Unbounded: unknown}, Cost: costbound.Money{Unbounded: `LLM "m" has no price`},
		}},
		{"nobody", func(p *engine.Program) { p.Tools[0].Config = config{{LLM: "n", Vectors: true}} }, func() costbound.Totals {
			n := costbound.Count{Unbounded: "undefined LLM n"}
			return costbound.Totals{Calls: n, Extra: n, Input: n, Output: n, Tokens: n, Cost: costbound.Money{Unbounded: n.Unbounded}}
		}()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := program(boundedNode{Visit: []engine.CallBound{{Tools: []string{"s"}, Times: times(3, "limits.n")}, {Role: "r", LLM: "m"}}})
			p.Tools = []tool.Spec{{Name: "s", Config: config{{Role: "vectors", LLM: "m", Vectors: true}}}}
			tt.change(p)
			e := costbound.Bound(p, hundred)
			if diff := cmp.Diff(tt.want, e.Limited, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
				t.Error(diff)
			}
			if !e.Parts[0].Vectors() && tt.name != "nobody" || e.Parts[1].Vectors() {
				t.Errorf("%+v", e.Parts)
			}
		})
	}
}

func TestEstimateListsItsLevers(t *testing.T) {
	inner := program(calls(3))
	inner.Name = "inner"
	p := program(
		boundedNode{Starts: engine.StartsOpen, Step: []engine.CallBound{{Role: "big", LLM: "m", Times: times(4, "limits.n")}}},
		boundedNode{Visit: []engine.CallBound{{Agent: inner, Times: times(2, "x")}}},
	)
	e := costbound.Bound(p, hundred)
	var why []string
	for _, part := range e.Parts {
		why = append(why, part.Agent+" "+part.Node+" "+part.Role+": "+part.Why)
	}
	if diff := cmp.Diff([]string{" a big: limits.max_steps 5 x limits.n", "inner a r: x x limits.n of inner"}, why); diff != "" {
		t.Error(diff)
	}
	levers := []costbound.Lever{
		{Path: "limits.max_steps", Share: 20.0 / 26},
		{Path: "limits.n", Share: 20.0 / 26},
		{Path: "x", Share: 6.0 / 26},
		{Path: "limits.n", Agent: "inner", Share: 6.0 / 26},
	}
	if diff := cmp.Diff(levers, e.Levers, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Error(diff)
	}
	if b, err := json.Marshal(e); err != nil || !strings.Contains(string(b), `"limited":{"calls":{"most":26}`) {
		t.Errorf("%s %v", b, err)
	}
}

func TestMinus(t *testing.T) {
	known, unknown := costbound.Count{Most: 10}, costbound.Count{Unbounded: "why"}
	got := costbound.Totals{Calls: known, Extra: known, Input: known, Output: unknown, Tokens: known, Cost: costbound.Money{Most: 2}}.Minus(3, 4, 5, 0.5)
	want := costbound.Totals{
		Calls: costbound.Count{Most: 7}, Extra: known, Input: costbound.Count{Most: 6}, Output: unknown, Tokens: costbound.Count{Most: 1}, Cost: costbound.Money{Most: 1.5},
	}
	if got != want {
		t.Errorf("%+v", got)
	}
	if got := want.Minus(8, 7, 1, 2); got.Calls.Most != 0 || got.Input.Most != 0 || got.Cost.Most != 0 || got.Output != unknown {
		t.Errorf("more than the worst case: %+v", got)
	}
}
