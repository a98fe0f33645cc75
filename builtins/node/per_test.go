package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// PER-k is a plan of k steps, each with one tool call by a model without latency, and a
// review after each step (docs/performance.md).

type perModel struct{ k int }

func (m perModel) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	usage := model.Tokens{Input: 100, Output: 20}
	if req.Role == "executor" {
		if req.Call == 1 {
			return &model.Reply{Calls: []model.ToolCall{{ID: "c1", Name: "add", Args: json.RawMessage(`{"a":1,"b":1}`)}}, Stop: model.ToolUse, Usage: usage}, nil
		}
		return &model.Reply{Text: "2: the item was added and the running total is now updated", Stop: model.EndTurn, Usage: usage}, nil
	}
	done := 0
	if req.Role == "reflector" {
		done = req.Call
	}
	if done == m.k {
		return &model.Reply{Text: `{"steps":[],"result":"the total is reported"}`, Stop: model.EndTurn, Usage: usage}, nil
	}
	var b strings.Builder
	b.WriteString(`{"steps":[`)
	for i := done + 1; i <= m.k; i++ {
		if i > done+1 {
			b.WriteByte(',')
		}
		b.WriteString(`"Step ` + strconv.Itoa(i) + `: call add for item ` + strconv.Itoa(i) + `"`)
	}
	b.WriteString(`],"result":""}`)
	return &model.Reply{Text: b.String(), Stop: model.EndTurn, Usage: usage}, nil
}

type addTool struct{}

func (addTool) Info() tool.Info {
	return tool.Info{
		Name: "add", Description: "Adds two numbers.", Effect: tool.ReadEffect,
		Input: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`),
	}
}

func (addTool) Call(_ context.Context, c *tool.Call) (*tool.Output, error) {
	var in struct{ A, B int }
	if err := json.Unmarshal(c.Args, &in); err != nil {
		return nil, err
	}
	return &tool.Output{Text: strconv.Itoa(in.A + in.B)}, nil
}

// bound compiles a default prompt as the dsl does.
func compiledPrompt(p component.PromptRef) component.PromptRef {
	t, _ := prompt.Parse(p.Text, prompt.Options{Namespaces: []string{"parameters"}})
	p.Bind(t.Render, t.Names())
	return p
}

// answered is the guard `reply.result != ""`.
type hasResult struct{}

func (hasResult) Eval(env map[string]any) (bool, error) {
	return env["reply"].(exprenv.Reply).Result != "", nil
}
func (hasResult) String() string { return `reply.result != ""` }

// perProgram returns the default per_step graph.
func perProgram(tb testing.TB) *engine.Program {
	tb.Helper()
	build := func(f component.Factory[engine.NodeSettings, engine.Node], config any) engine.Node {
		n, err := f.Build(config, engine.NodeSettings{ID: f.Type, Batch: engine.OneStep})
		if err != nil {
			tb.Fatal(err)
		}
		return n
	}
	p := node.Planner.Config().(*node.PlannerConfig)
	p.LLM.Name = "main"
	p.PlannerPrompt, p.PlannerPromptTemplate = compiledPrompt(p.PlannerPrompt), compiledPrompt(p.PlannerPromptTemplate)
	x := node.Executor.Config().(*node.ExecutorConfig)
	x.LLM.Name = "main"
	r := node.Reflector.Config().(*node.ReflectorConfig)
	r.LLM.Name = "main"
	r.ReflectPrompt, r.ReflectPromptTemplate = compiledPrompt(r.ReflectPrompt), compiledPrompt(r.ReflectPromptTemplate)
	g := &graph.Graph[engine.Condition]{
		Start: "planner",
		Nodes: []graph.Node{{ID: "planner", Type: "planner"}, {ID: "executor", Type: "executor"}, {ID: "reflector", Type: "reflector"}},
		Edges: []graph.Edge[engine.Condition]{
			{From: "planner", To: graph.End, Label: "answered", Guard: hasResult{}},
			{From: "planner", To: "executor"},
			{From: "executor", To: "reflector"},
			{From: "reflector", To: graph.End, Label: "answered", Guard: hasResult{}},
			{From: "reflector", To: "executor"},
		},
	}
	for i, e := range g.Edges {
		if e.Guard != nil {
			g.Edges[i].Label = e.Guard.String()
		}
	}
	if err := g.Check(); err != nil {
		tb.Fatal(err)
	}
	return &engine.Program{
		Name: "per", Digest: "sha256:per", Source: json.RawMessage(`{}`),
		Models: []engine.ModelSpec{{Name: "main", Provider: "fake"}},
		Graph:  g,
		Nodes:  map[string]engine.Node{"planner": build(node.Planner, p), "executor": build(node.Executor, x), "reflector": build(node.Reflector, r)},
		Limits: engine.Limits{
			MaxSteps: 100, ExecutorMaxIterations: 20, MessageHistoryLimit: 10, ExecutorMessageHistoryLimit: 10,
			MaxReplans: 10, MaxConsecutiveToolCalls: 50,
		},
		Memory: engine.MemorySettings{Backend: "none"},
	}
}

func perHost(k int) engine.Host {
	return engine.Host{Models: map[string]model.Model{"main": perModel{k}}, Tools: []tool.Binding{{Tool: addTool{}}}}
}

func runPER(p *engine.Program, h engine.Host, id string) *engine.Result {
	in := engine.Input{RunID: id, Parameters: map[string]any{"question": "Add up the items one by one and report the total."}}
	return runtime.Run(context.Background(), p, in, h, runtime.Options{})
}

func TestPERRunCompletes(t *testing.T) {
	for _, k := range []int{1, 5, 20} {
		res := runPER(perProgram(t), perHost(k), "r")
		if res.Status != stop.RunCompleted || res.Response != "the total is reported" || len(res.Steps) != k ||
			res.Usage.ModelCalls != 1+3*k || res.Usage.ToolCalls != k {
			t.Fatalf("k=%d: %s %+v %q, %d steps, %+v", k, res.Status, res.StopReason, res.Response, len(res.Steps), res.Usage)
		}
	}
}

func BenchmarkPER(b *testing.B) {
	for _, k := range []int{5, 20, 40} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			p, h := perProgram(b), perHost(k)
			b.ReportAllocs()
			var before, after goruntime.MemStats
			goruntime.ReadMemStats(&before)
			b.ResetTimer()
			for b.Loop() {
				if res := runPER(p, h, "r"); res.Status != stop.RunCompleted {
					b.Fatal(res.StopReason)
				}
			}
			goruntime.ReadMemStats(&after)
			n := float64(b.N * k)
			b.ReportMetric(float64(b.Elapsed().Microseconds())/n, "µs/step")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/n, "allocs/step")
		})
	}
}

// BenchmarkConcurrentPER5 runs 1,000 runs of five steps at once.
func BenchmarkConcurrentPER5(b *testing.B) {
	const runs = 1000
	p, h := perProgram(b), perHost(5)
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range runs {
			wg.Go(func() {
				if res := runPER(p, h, "r"+strconv.Itoa(i)); res.Status != stop.RunCompleted {
					b.Error(res.StopReason)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(b.N*runs)/b.Elapsed().Seconds(), "runs/s")
}
