package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	_ "github.com/pexctl/pex/internal/gctune" // as in pexctl
)

// PER-k is a plan of k steps, each with one tool call by a model without latency, and a
// review after each step (docs/performance.md).

// perModel replies by what the prompt says, not by the number of the call.
type perModel struct{ k int }

func (m perModel) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	reply := &model.Reply{Stop: model.EndTurn, Usage: model.Tokens{Input: 100, Output: 20}}
	item := lastItem(req.Messages)
	called := slices.ContainsFunc(req.Messages, func(m model.Message) bool { return m.Role == model.ToolRole })
	switch {
	case req.Role == "executor" && called:
		reply.Text = "2: item " + strconv.Itoa(item) + " was added and the running total is now updated"
	case req.Role == "executor":
		reply.Calls, reply.Stop = []model.ToolCall{{ID: "c1", Name: "add", Args: json.RawMessage(`{"a":1,"b":1}`)}}, model.ToolUse
	case item == m.k:
		reply.Text = `{"steps":[],"result":"the total is reported"}`
	default:
		reply.Text = perPlan(item+1, m.k)
	}
	return reply, nil
}

// lastItem returns the number of the last item that a prompt mentions: in a review, that
// of the last result. It returns 0 if there is none.
func lastItem(prompt []model.Message) int {
	for _, m := range slices.Backward(prompt) {
		for _, text := range slices.Backward(m.Text) {
			if at := strings.LastIndex(text, "item "); at >= 0 {
				digits, _, _ := strings.Cut(text[at+len("item "):], " ")
				n, _ := strconv.Atoi(digits)
				return n
			}
		}
	}
	return 0
}

// perPlan is the plan of the items first to last.
func perPlan(first, last int) string {
	var b strings.Builder
	b.Grow(40 * (last - first + 2))
	b.WriteString(`{"steps":[`)
	for i := first; i <= last; i++ {
		if i > first {
			b.WriteByte(',')
		}
		n := strconv.Itoa(i)
		for _, part := range []string{`"Step `, n, `: call add for item `, n, `"`} {
			b.WriteString(part)
		}
	}
	b.WriteString(`],"result":""}`)
	return b.String()
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

// compiledPrompt compiles a default prompt as the dsl does.
func compiledPrompt(p component.PromptRef) component.PromptRef {
	t, _ := prompt.Parse(p.Text, prompt.Options{Namespaces: []string{"parameters"}})
	p.Bind(t.Render, t.Names())
	return p
}

// defaultGraph compiles the graph of a reflector as the dsl does.
func defaultGraph(tb testing.TB, r *node.ReflectorConfig) (*graph.Graph[engine.Condition], engine.BatchSize) {
	tb.Helper()
	spec := r.DefaultGraph()
	g := &graph.Graph[engine.Condition]{Start: "planner"}
	reached := map[string]bool{"planner": true}
	for _, e := range spec.Edges {
		reached[e.To] = true
	}
	for _, id := range []string{"planner", "executor", "reflector", "finalizer"} {
		if reached[id] {
			g.Nodes = append(g.Nodes, graph.Node{ID: id, Type: id})
		}
	}
	for _, e := range spec.Edges {
		edge := graph.Edge[engine.Condition]{From: e.From, To: e.To, Each: e.PerEndedStep, Label: e.When.Source}
		if !e.When.IsZero() {
			edge.Guard = expression(tb, "edge", e.When.Source)
		}
		g.Edges = append(g.Edges, edge)
	}
	if err := g.Check(); err != nil {
		tb.Fatal(err)
	}
	return g, spec.Batch
}

// expression compiles a condition as the dsl does.
func expression(tb testing.TB, place, source string) component.GuardRef {
	tb.Helper()
	env, _ := guard.Place(place, nil)
	compiled, problem := guard.Compile(source, env)
	if problem != nil {
		tb.Fatal(problem)
	}
	ref := component.GuardRef{Source: source}
	ref.Bind(compiled.Eval)
	return ref
}

// perProgram returns the program of the default per_step graph.
func perProgram(tb testing.TB) *engine.Program { return strategyProgram(tb, "per_step") }

// strategyProgram returns the program of the default graph of a strategy.
func strategyProgram(tb testing.TB, strategy string) *engine.Program {
	tb.Helper()
	r := node.Reflector.Config().(*node.ReflectorConfig)
	r.LLM.Name, r.Strategy = "main", strategy
	r.ReflectPrompt, r.ReflectPromptTemplate = compiledPrompt(r.ReflectPrompt), compiledPrompt(r.ReflectPromptTemplate)
	g, batch := defaultGraph(tb, r)
	build := func(f component.Factory[engine.NodeSettings, engine.Node], config any) engine.Node {
		n, err := f.Build(config, engine.NodeSettings{ID: f.Type, Batch: batch})
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
	return runtime.Run(context.Background(), p, inputOf(id), h, runtime.Options{})
}

func inputOf(id string) engine.Input {
	return engine.Input{RunID: id, Parameters: map[string]any{"question": "Add up the items one by one and report the total."}}
}

// completed returns an error if a run did not complete.
func completed(res *engine.Result) error {
	if res.Status != stop.RunCompleted {
		return fmt.Errorf("%s: %s", res.StopReason.Code, res.StopReason.Message)
	}
	return nil
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

// concurrentRuns is the number of runs that benchmarks make at once.
const concurrentRuns = 1000

// concurrently makes runs of different ids at once and reports their rate and CPU time, the
// collections per 1,000 runs and the peak memory of the process.
func concurrently(b *testing.B, run func(id string) error) {
	var before, after goruntime.MemStats
	resetPeak()
	goruntime.ReadMemStats(&before)
	cpu, batch := cpuTime(), 0
	for b.Loop() {
		batch++
		var wg sync.WaitGroup
		for i := range concurrentRuns {
			wg.Go(func() {
				if err := run(fmt.Sprintf("r%d.%d", batch, i)); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(b.N*concurrentRuns)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(b.N*concurrentRuns), "cpu-µs/run")
	goruntime.ReadMemStats(&after)
	b.ReportMetric(float64(after.NumGC-before.NumGC)/float64(b.N), "GC/op")
	b.ReportMetric(peak(), "MB-peak")
}

// BenchmarkConcurrentPER5 runs 1,000 runs of five steps at once.
func BenchmarkConcurrentPER5(b *testing.B) {
	p, h := perProgram(b), perHost(5)
	concurrently(b, func(id string) error { return completed(runPER(p, h, id)) })
}
