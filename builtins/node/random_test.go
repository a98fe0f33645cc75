package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// wild is a model that replies at random: plans of every shape, answers, nonsense,
// refusals, valid and invalid tool calls, and errors. A reply depends only on the call,
// so a run can be repeated.
type wild struct{ seed uint64 }

func (w wild) Choose(req *model.Request) model.Model {
	h := fnv.New64a()
	fmt.Fprint(h, req.Role, req.Call, req.Step)
	return wildReply{req, rand.New(rand.NewPCG(w.seed, h.Sum64()))}
}

func (w wild) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	return w.Choose(req).Generate(ctx, req, stream)
}

type wildReply struct {
	req *model.Request
	r   *rand.Rand
}

func (w wildReply) Delay() time.Duration { return time.Duration(w.req.Call*7%5) * time.Second }

func (w wildReply) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	reply := &model.Reply{Stop: model.EndTurn, Usage: model.Tokens{Input: 20, Output: 10}}
	switch n := w.r.IntN(40); {
	case n == 0 && w.req.Role == "executor":
		return nil, &model.Error{Kind: model.BadRequest, Message: "odd"}
	case n < 3:
		reply.Text = "nothing that can be read {"
	case n == 3:
		reply.Text, reply.Stop = "no", model.Refusal
	case w.req.Role == "executor":
		w.act(reply)
	case w.req.Role == "finalizer", n < 8:
		reply.Text = `{"steps": [], "result": "an answer"}`
	default:
		reply.Text = w.plan()
	}
	return reply, nil
}

func (w wildReply) act(reply *model.Reply) {
	reply.Text = "done " + w.req.Step
	if w.req.Call > 3 || w.r.IntN(2) == 0 {
		return
	}
	reply.Text, reply.Stop = "", model.ToolUse
	for range 1 + w.r.IntN(3) {
		call := model.ToolCall{Name: []string{"look", "put", "nosuch"}[w.r.IntN(3)], Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, w.r.IntN(2)))}
		if w.r.IntN(9) == 0 {
			call.Args = json.RawMessage(`{"n":`)
		}
		reply.Calls = append(reply.Calls, call)
	}
}

func (w wildReply) plan() string {
	var steps []string
	n := 1 + w.r.IntN(5)
	for i := range n {
		st := fmt.Sprintf(`{"id": "%s", "goal": "goal %d"`, w.id(i), w.r.IntN(8))
		if w.r.IntN(3) == 0 {
			st = fmt.Sprintf(`{"goal": "goal %d uses ${steps.%s.%s}"`, w.r.IntN(8), w.id(w.r.IntN(n)), []string{"result", "output", "output.x", "status"}[w.r.IntN(4)])
		}
		if i > 0 && w.r.IntN(2) == 0 {
			st += fmt.Sprintf(`, "depends_on": ["%s"]`, w.id(w.r.IntN(i+w.r.IntN(2))))
		}
		steps = append(steps, st+"}")
	}
	return `{"steps": [` + strings.Join(steps, ", ") + `], "result": ""}`
}

func (w wildReply) id(i int) string { return []string{"s1", "s2", "s3", "x", "y"}[(i+w.r.IntN(8)/7)%5] }

// world provides two tools and records the writes they made.
type world struct {
	mu    sync.Mutex
	paths []string // paths of write calls
}

type wildTool struct {
	w     *world
	name  string
	write bool
}

func (t wildTool) Info() tool.Info {
	info := tool.Info{Name: t.name, Effect: tool.ReadEffect, Input: json.RawMessage(`{"type":"object"}`)}
	if t.write {
		info.Effect = tool.WriteEffect
	}
	return info
}

func (t wildTool) Call(_ context.Context, c *tool.Call) (*tool.Output, error) {
	if t.write {
		t.w.mu.Lock()
		defer t.w.mu.Unlock()
		t.w.paths = append(t.w.paths, c.Path)
	}
	if len(c.Path)%4 == 0 {
		return nil, fmt.Errorf("%s is broken", t.name)
	}
	return &tool.Output{Text: t.name + " gave " + string(c.Args)}, nil
}

// wildProgram returns a program with random strategy, policies and limits.
func wildProgram(tb testing.TB, r *rand.Rand) *engine.Program {
	tb.Helper()
	p := perProgram(tb)
	strategy := []string{"per_step", "batch", "adaptive", "none"}[r.IntN(4)]
	look := node.Reflector.Config().(*node.ReflectorConfig)
	look.LLM.Name, look.Strategy = "main", strategy
	g, take := defaultGraph(tb, look)
	p.Graph = g
	build := func(f component.Factory[engine.NodeSettings, engine.Node], config any) {
		n, err := f.Build(config, engine.NodeSettings{ID: f.Type, Batch: take})
		if err != nil {
			tb.Fatal(err)
		}
		p.Nodes[f.Type] = n
	}
	plan := node.Planner.Config().(*node.PlannerConfig)
	plan.LLM.Name, plan.PlanFormat = "main", []string{"list", "steps", "dag", "dag", "dag"}[r.IntN(5)]
	x := node.Executor.Config().(*node.ExecutorConfig)
	x.LLM.Name, x.MaxParallelSteps, x.StepAttempts = "main", 1+r.IntN(4), 1+r.IntN(3)
	x.OnStepError = []string{"reflect", "reflect", "continue", "fail"}[r.IntN(4)]
	x.ParallelToolCalls = r.IntN(2) == 0
	if r.IntN(3) == 0 {
		x.StepTimeout = 5 * time.Second
	}
	final := node.Finalizer.Config().(*node.FinalizerConfig)
	final.LLM.Name = "main"
	build(node.Planner, plan)
	build(node.Executor, x)
	build(node.Reflector, look)
	build(node.Finalizer, final)
	p.Limits = engine.Limits{
		MaxSteps: 1 + r.IntN(9), ExecutorMaxIterations: 1 + r.IntN(5), MessageHistoryLimit: 10, ExecutorMessageHistoryLimit: 1 + r.IntN(4),
		MaxReplans: 1 + r.IntN(5), MaxConsecutiveToolCalls: 1 + r.IntN(3),
	}
	if r.IntN(2) == 0 {
		p.Limits.MaxToolCalls = 1 + r.IntN(6)
	}
	if r.IntN(3) == 0 {
		p.Limits.MaxTokens = 20_000 + r.IntN(20_000)
	}
	if r.IntN(4) == 0 {
		p.Limits.MaxDuration = time.Duration(1+r.IntN(30)) * time.Second
	}
	if r.IntN(2) == 0 {
		at := []engine.GuardPlace{engine.BeforeTool, engine.AfterTool}[r.IntN(2)]
		ones := guardOf("tool", func(env any) bool {
			return env.(map[string]any)["tool"].(exprenv.Tool).Args["n"] == json.Number("1")
		})
		p.Guards = []engine.Guard{{Name: "no-ones", At: at, Do: engine.GuardReplan, Message: "no ones", When: ones}}
	}
	return p
}

// Whatever the model replies, a run ends for a documented reason within its limits,
// writes nothing twice, and has the same result when it is repeated.
func TestRandomRepliesEndWithinTheLimits(t *testing.T) {
	ends := map[stop.Code]int{}
	for seed := range uint64(400) {
		p, w := wildProgram(t, rand.New(rand.NewPCG(seed, 1))), &world{}
		h := engine.Host{
			Models: map[string]model.Model{"main": wild{seed}},
			Tools:  []tool.Binding{{Tool: wildTool{w, "look", false}}, {Tool: wildTool{w, "put", true}}},
		}
		mem := &journal.Memory{}
		in := engine.Input{RunID: "r", Parameters: map[string]any{"question": "q"}}
		res := runtime.Run(t.Context(), p, in, h, runtime.Options{Journal: mem, Virtual: true})
		ends[res.StopReason.Code]++
		for _, wrong := range slices.Concat(wrongEnd(p, res), wrongSteps(p, res), wrongWrites(w)) {
			t.Errorf("seed %d: %s", seed, wrong)
		}
		wrote := len(w.paths)
		again := runtime.Run(t.Context(), p, in, h, runtime.Options{Journal: mem, Virtual: true})
		one, _ := json.Marshal(res)
		two, _ := json.Marshal(again)
		if string(one) != string(two) || len(w.paths) != wrote {
			t.Errorf("seed %d: repeated, it wrote %d more and got\n%s\nwant\n%s", seed, len(w.paths)-wrote, two, one)
		}
	}
	t.Logf("ends: %v", ends)
	for _, code := range []stop.Code{stop.Answered, stop.MaxSteps, stop.MaxReplans, stop.MaxToolCalls, stop.Deadline, stop.PlannerInvalid, stop.Refused, stop.StepFailed} {
		if ends[code] == 0 {
			t.Errorf("no run ended by %s", code)
		}
	}
}

func wrongEnd(p *engine.Program, res *engine.Result) (wrong []string) {
	outage := res.StopReason.Code == stop.ProviderError && res.StopReason.Path != "executor.on_step_error"
	if res.StopReason.Code == stop.Internal || res.StopReason.Code == "" || outage {
		wrong = append(wrong, fmt.Sprintf("it ended %s: %s", res.StopReason.Code, res.Error))
	}
	if (res.Status == stop.RunCompleted || res.Status == stop.RunStopped) && res.Response == "" {
		wrong = append(wrong, "there is no answer")
	}
	if max := p.Limits.MaxTokens; max > 0 && res.Usage.Total() > max {
		wrong = append(wrong, fmt.Sprintf("%d of %d tokens were used", res.Usage.Total(), max))
	}
	if max := p.Limits.MaxToolCalls; max > 0 && res.Usage.ToolCalls > max {
		wrong = append(wrong, fmt.Sprintf("%d of %d tool calls were made", res.Usage.ToolCalls, max))
	}
	if m := res.Usage.ByModel["main"]; m.ModelCalls != res.Usage.ModelCalls || m.Tokens != res.Usage.Tokens {
		wrong = append(wrong, "the models' usage does not add up to the run's")
	}
	return wrong
}

func wrongSteps(p *engine.Program, res *engine.Result) (wrong []string) {
	seen, ran := map[string]bool{}, map[string]bool{}
	for _, rec := range res.Steps {
		if seen[rec.ID] {
			wrong = append(wrong, "two steps are "+rec.ID)
		}
		seen[rec.ID] = true
		if rec.Status == "" || (rec.Attempts == 0) != (rec.Status == plan.Skipped) {
			wrong = append(wrong, fmt.Sprintf("step %s ended %q after %d attempts", rec.ID, rec.Status, rec.Attempts))
		}
		if rec.Attempts > 0 {
			ran[rec.ID] = true
		}
		for _, c := range rec.ToolCalls {
			if c.Status == "" || c.Tool == "" || !json.Valid(c.Args) {
				wrong = append(wrong, fmt.Sprintf("step %s holds the call %+v", rec.ID, c))
			}
		}
	}
	if len(ran) > p.Limits.MaxSteps {
		wrong = append(wrong, fmt.Sprintf("%d of %d steps ran", len(ran), p.Limits.MaxSteps))
	}
	for _, st := range res.Plan.Steps {
		for _, dep := range st.DependsOn {
			if ran[st.ID] && !seen[dep] {
				wrong = append(wrong, "step "+st.ID+" ran before "+dep)
			}
		}
	}
	return wrong
}

// wrongWrites returns retries of attempts that had already written.
func wrongWrites(w *world) (wrong []string) {
	attempts := map[string]string{}
	for i, path := range w.paths {
		if slices.Contains(w.paths[:i], path) {
			wrong = append(wrong, path+" was written twice")
		}
		step, rest, _ := strings.Cut(path, "/")
		attempt := "attempt.1"
		if strings.HasPrefix(rest, "attempt.") {
			attempt, _, _ = strings.Cut(rest, "/")
		}
		if before, ok := attempts[step]; ok && before != attempt {
			wrong = append(wrong, step+" wrote in "+before+" and in "+attempt)
		}
		attempts[step] = attempt
	}
	return wrong
}
