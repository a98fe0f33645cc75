package node_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/tool"
)

// condition is an expression with its source.
type condition struct {
	source string
	holds  func(env map[string]any) bool
}

func (c condition) String() string                        { return c.source }
func (c condition) Eval(env map[string]any) (bool, error) { return c.holds(env), nil }

// guardOf returns a condition as a component.GuardRef.
func guardOf(source string, holds func(any) bool) component.GuardRef {
	g := component.GuardRef{Source: source}
	g.Bind(func(env map[string]any) (bool, error) { return holds(env), nil })
	return g
}

// known returns the conditions that strategies put on edges.
func known(source string) engine.Condition {
	holds := func(map[string]any) bool { return false }
	switch {
	case source == `reply.result != ""`:
		holds = func(env map[string]any) bool { return env["reply"].(exprenv.Reply).Result != "" }
	case source == `len(plan.remaining) == 0`:
		holds = func(env map[string]any) bool { return len(env["plan"].(exprenv.Plan).Remaining) == 0 }
	case source == `reply.text == "replan"`:
		holds = func(env map[string]any) bool { return env["reply"].(exprenv.Reply).Text == "replan" }
	case strings.HasPrefix(source, "step.status"):
		holds = func(env map[string]any) bool { return env["step"].(exprenv.Step).Status != "ok" }
	}
	return condition{source, holds}
}

// spiteful is a random program and its host.
type randomAgent struct {
	r    *rand.Rand
	book *ledger
	seed uint64
	mean bool
	wild bool // random graphs
}

func (w *randomAgent) models() []engine.ModelSpec {
	var out []engine.ModelSpec
	for i := range 1 + w.r.IntN(3) {
		m := engine.ModelSpec{
			Name: fmt.Sprint("m", i), Params: model.Params{MaxOutputTokens: 100 + w.r.IntN(400)},
			Cost:  &model.Cost{Input: w.r.Float64(), Output: 5 * w.r.Float64(), CacheWrite: 2 * w.r.Float64()},
			Retry: retry.Policy{MaxAttempts: w.r.IntN(4)},
		}
		if i > 0 && w.r.IntN(2) == 0 {
			m.Fallback = []string{"m0"}
		}
		out = append(out, m)
	}
	return out
}

// program returns an agent. depth is how many agents may be nested in it.
func (w *randomAgent) program(tb testing.TB, name string, depth int, hosts map[string]engine.Host) *engine.Program {
	tb.Helper()
	p := &engine.Program{
		Name: name, Digest: "sha256:" + name, Source: json.RawMessage(`{}`), Models: w.models(), Nodes: map[string]engine.Node{},
		Memory: engine.MemorySettings{Backend: "none"},
		Limits: engine.Limits{
			MaxSteps: 1 + w.r.IntN(6), ExecutorMaxIterations: 1 + w.r.IntN(4), MaxReplans: 1 + w.r.IntN(4),
			MessageHistoryLimit: 10, ExecutorMessageHistoryLimit: 1 + w.r.IntN(4),
			MaxToolCalls: w.r.IntN(3) * 5, MaxTokens: w.r.IntN(4) / 3 * (20_000 + w.r.IntN(200_000)),
			MaxConsecutiveToolCalls: 3 * w.r.IntN(2),
		},
	}
	if w.r.IntN(2) == 0 {
		schema := component.SchemaRef{JSON: json.RawMessage(`{"type":"string"}`)}
		p.Output = &engine.Output{Schema: schema, MaxAttempts: w.r.IntN(3)}
		p.Output.Ensures = []component.GuardRef{guardOf(`output != "bad"`, func(env any) bool { return env.(map[string]any)["output"] != "bad" })}
	}
	if w.r.IntN(3) == 0 {
		always := guardOf("true", func(any) bool { return true })
		p.Memory.Compaction.Summarize = &engine.Summarization{When: always, Keep: 1, LLM: w.llm(p)}
	}
	again := func(at engine.GuardPlace) {
		p.Guards = append(p.Guards, engine.Guard{Index: len(p.Guards), At: at, Do: engine.GuardReplan, Message: "again", When: guardOf("true", func(any) bool { return true })})
	}
	for _, at := range []engine.GuardPlace{engine.AfterPlan, engine.AfterStep, engine.AfterReflect} {
		if w.r.IntN(4) == 0 {
			again(at)
		}
	}
	switch w.seed % 8 {
	case 1:
		again(engine.BeforeTool)
	case 2:
		again(engine.AfterTool)
	}
	h := engine.Host{Models: map[string]model.Model{}, Tools: []tool.Binding{{Tool: lookTool{}}}}
	of := &exploitableSpec{program: p, repairs: w.r.IntN(3)}
	for i := range p.Models {
		h.Models[p.Models[i].Name] = costlyModel{&p.Models[i], w.book, w.seed, w.mean, of}
	}
	if depth > 0 && w.r.IntN(3) == 0 {
		inner := agentTool{w.program(tb, name+"e", depth-1, hosts)}
		p.Tools = []tool.Spec{{Name: "expert", Config: inner}}
		h.Tools = append(h.Tools, tool.Binding{Spec: &p.Tools[0], Tool: inner})
	}
	hosts[name] = h
	w.nodes(tb, p, of.repairs, depth, hosts)
	return p
}

func (w *randomAgent) llm(p *engine.Program) string { return p.Models[w.r.IntN(len(p.Models))].Name }

// nodes adds the roles and the graph, which is that of a strategy or random.
func (w *randomAgent) nodes(tb testing.TB, p *engine.Program, repairs, depth int, hosts map[string]engine.Host) {
	tb.Helper()
	pick := func(words ...string) string { return words[w.r.IntN(len(words))] }
	plan := node.Planner.Config().(*node.PlannerConfig)
	plan.LLM.Name, plan.PlanFormat, plan.Repair.MaxAttempts = w.llm(p), pick("list", "steps", "dag"), repairs
	x := node.Executor.Config().(*node.ExecutorConfig)
	x.LLM.Name, x.MaxParallelSteps, x.StepAttempts = w.llm(p), 1+w.r.IntN(3), 1+w.r.IntN(2)
	x.Mode, x.OnStepError = pick("function_calling", "react_text", "guided"), pick("reflect", "continue", "fail", "reflect")
	x.Verify.Source = pick("none", "judge")
	if depth > 0 && w.r.IntN(3) == 0 {
		x.Agent.File = "inner"
		x.Agent.Bind(w.program(tb, p.Name+"i", depth-1, hosts))
	}
	look := node.Reflector.Config().(*node.ReflectorConfig)
	look.LLM.Name, look.Strategy = w.llm(p), pick("per_step", "batch", "adaptive", "none")
	look.Triggers.StepFailed, look.Triggers.Viability.Enabled = w.r.IntN(2) == 0, w.r.IntN(2) == 0
	final := node.Finalizer.Config().(*node.FinalizerConfig)
	final.LLM.Name = w.llm(p)
	if w.wild {
		w.randomGraph(tb, p, plan, x, look, final)
		return
	}
	wires := look.DefaultGraph()
	configs := map[string]any{"planner": plan, "executor": x, "reflector": look, "finalizer": final}
	types := map[string]string{"planner": "planner", "executor": "executor", "reflector": "reflector", "finalizer": "finalizer"}
	ids := []string{"planner", "executor", "reflector", "finalizer"}
	for _, n := range wires.Nodes {
		ids, configs[n.ID], types[n.ID] = append(ids, n.ID), n.Config, n.Type
	}
	g := &graph.Graph[engine.Condition]{Start: "planner"}
	reached := map[string]bool{"planner": true}
	for _, e := range wires.Edges {
		edge := graph.Edge[engine.Condition]{From: e.From, To: e.To, Label: e.When.Source, Each: e.PerEndedStep}
		if edge.Label != "" {
			edge.Guard = known(edge.Label)
		}
		g.Edges, reached[e.To] = append(g.Edges, edge), true
	}
	for _, id := range ids {
		built(tb, p, id, types[id], wires.Batch, configs[id])
		if reached[id] {
			g.Nodes = append(g.Nodes, graph.Node{ID: id, Type: types[id]})
		}
	}
	if err := g.Check(); err != nil {
		tb.Fatal(err)
	}
	p.Graph = g
}

func built(tb testing.TB, p *engine.Program, id, typ string, take engine.BatchSize, config any) {
	tb.Helper()
	f, _ := node.All().Find(typ)
	n, err := f.Build(config, engine.NodeSettings{ID: id, Batch: take})
	if err != nil {
		tb.Fatal(err)
	}
	p.Nodes[id] = n
}

// wander adds a graph with random edges.
func (w *randomAgent) randomGraph(tb testing.TB, p *engine.Program, plan, x, look, final any) {
	tb.Helper()
	router := node.Router.Config().(*node.RouterConfig)
	router.LLM.Name, router.Prompt, router.Choices = w.llm(p), compiledPrompt(component.Inline("Which?")), []string{"again"}
	tool := node.Tool.Config().(*node.ToolConfig)
	if tool.Tool = "look"; len(p.Tools) > 0 {
		tool.Tool = "expert"
		question := component.Template{Text: "q"}
		question.Bind(func(component.Lookup) []string { return []string{"q"} })
		tool.Args = map[string]component.Template{"question": question}
	}
	configs := []any{plan, x, look, final, router, tool}
	types := []string{"planner", "executor", "reflector", "finalizer", "router", "tool"}
	take := []engine.BatchSize{engine.OneStep, engine.ReadySteps, engine.AllSteps}[w.r.IntN(3)]
	all := &graph.Graph[engine.Condition]{Start: types[5*w.r.IntN(2)*w.r.IntN(2)]}
	anywhere := func() string { return append(types, "end", "executor", "executor")[w.r.IntN(9)] }
	coin := condition{"coin", func(map[string]any) bool { return w.r.IntN(2) == 0 }}
	for i, typ := range types {
		built(tb, p, typ, typ, take, configs[i])
		if (typ == "planner" || typ == "reflector") && w.r.IntN(3) > 0 {
			g := known(`reply.result != ""`)
			all.Edges = append(all.Edges, graph.Edge[engine.Condition]{From: typ, To: graph.End, Label: g.String(), Guard: g})
		}
		if typ == "executor" && w.r.IntN(2) > 0 {
			g := known(`len(plan.remaining) == 0`)
			all.Edges = append(all.Edges, graph.Edge[engine.Condition]{From: typ, To: "reflector", Label: g.String(), Guard: g})
		}
		if w.r.IntN(2) == 0 {
			all.Edges = append(all.Edges, graph.Edge[engine.Condition]{From: typ, To: anywhere(), Label: "coin", Guard: coin})
		}
		all.Edges = append(all.Edges, graph.Edge[engine.Condition]{From: typ, To: anywhere()})
	}
	p.Graph = reachable(all, types)
}

// onlyReached removes unreachable nodes.
func reachable(all *graph.Graph[engine.Condition], types []string) *graph.Graph[engine.Condition] {
	seen := map[string]bool{all.Start: true}
	for range types {
		for _, e := range all.Edges {
			seen[e.To] = seen[e.To] || seen[e.From]
		}
	}
	g := &graph.Graph[engine.Condition]{Start: all.Start}
	for _, typ := range types {
		if seen[typ] {
			g.Nodes = append(g.Nodes, graph.Node{ID: typ, Type: typ})
		}
	}
	for _, e := range all.Edges {
		if seen[e.From] {
			g.Edges = append(g.Edges, e)
		}
	}
	return g
}
