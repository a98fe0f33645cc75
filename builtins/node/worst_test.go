package node_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// worstRuns returns the number of random runs: PEX_WORST_RUNS, else 1,500, and a fifth of
// that with -short.
func worstRuns() int {
	if n, err := strconv.Atoi(os.Getenv("PEX_WORST_RUNS")); err == nil {
		return n
	}
	if testing.Short() {
		return 300
	}
	return 1500
}

// TestNoRunCostsMoreThanItsWorstCase compares the cost of agents of every strategy, whose
// models provoke as many calls as possible, with the estimate made before the run.
func TestNoRunCostsMoreThanItsWorstCase(t *testing.T) {
	near := spend(t, worstRuns(), false)
	if near < worstRuns()/50 {
		t.Error("the runs prove little: too few come near their bounds")
	}
}

// TestNoGraphCostsMoreThanItsWorstCase does the same for random graphs with cycles.
func TestNoGraphCostsMoreThanItsWorstCase(t *testing.T) {
	if spend(t, worstRuns()/20, true) == 0 {
		t.Error("the runs prove little: none comes near its bound")
	}
}

// spend makes runs and returns how many of them made at least half of the estimated
// calls.
func spend(t *testing.T, runs int, wild bool) (near int) {
	t.Helper()
	for seed := range uint64(runs) {
		w := &randomAgent{rand.New(rand.NewPCG(seed, 1)), &ledger{}, seed, seed%2 == 0, wild}
		hosts := map[string]engine.Host{}
		p := w.program(t, "main", 1, hosts)
		host := hosts["main"]
		host.Nested = func(p *engine.Program, _ map[string]any) (engine.Host, error) { return hosts[p.Name], nil }
		most := costbound.Bound(p, costbound.Options{Context: contextWindow})
		res := runtime.Run(t.Context(), p, perInput, host, runtime.Options{Virtual: true})
		if res.StopReason.Code == stop.Internal && p.Replanner(p.Graph.Start, "") != "" {
			t.Fatalf("seed %d: %s", seed, res.Error)
		}
		for _, wrong := range exceeded(most, w.book, res) {
			t.Errorf("seed %d: %s; ended %s\n%+v", seed, wrong, res.StopReason.Code, most.Parts)
		}
		if most.Limited.Calls.Known() && 2*w.book.answers() >= most.Limited.Calls.Most {
			near++
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d of %d runs made at least half of the calls they may make", near, runs)
	return near
}

// A model that replans, calls tools and needs repairs as often as the defaults allow
// reaches the worst case exactly.
func TestDefaultAgentReachesItsWorstCase(t *testing.T) {
	p, h, book := defaults(t)
	most := costbound.Bound(p, costbound.Options{Context: contextWindow}).Limited
	runPER(p, h, "r")
	if book.calls != most.Calls.Most || book.tokens.Total() != most.Tokens.Most || most.Calls.Most != 464 {
		t.Errorf("%d calls and %d tokens, want %+v", book.calls, book.tokens.Total(), most)
	}
}

// TestReflectorsReachTheirWorstCase covers the limits of a reflector other than the
// number of steps.
func TestReflectorsReachTheirWorstCase(t *testing.T) {
	again := engine.Guard{At: engine.AfterReflect, Do: engine.GuardReplan, Message: "again", When: guardOf("true", func(any) bool { return true })}
	tests := []struct {
		name     string
		strategy string
		change   func(*engine.Program)
		calls    int // calls made
		most     int // calls possible
	}{
		{"replans of a batch", "batch", func(p *engine.Program) { p.Limits.MaxReplans = 3 }, 4 * 3, 4 * 3},
		{"a guard that is never content", "per_step", func(p *engine.Program) {
			p.Guards, p.Limits.MaxReplans, p.Limits.MaxSteps = []engine.Guard{again}, 3, 20
		}, 5 * 3, 20 * 5 * 3}, // all in the first visit
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, h, book := defaults(t)
			look := node.Reflector.Config().(*node.ReflectorConfig)
			look.LLM.Name, look.Strategy = "main", tt.strategy
			take := look.DefaultGraph().Batch
			built(t, p, "reflector", "reflector", take, look)
			x := node.Executor.Config().(*node.ExecutorConfig)
			x.LLM.Name = "main"
			built(t, p, "executor", "executor", take, x)
			tt.change(p)
			e := costbound.Bound(p, costbound.Options{Context: contextWindow})
			runPER(p, h, "r")
			for _, part := range e.Parts {
				if part.Role == "reflector" && (book.roles["reflector"] != tt.calls || part.Calls.Most != tt.most) {
					t.Errorf("%d calls, want %+v", book.roles["reflector"], part.Calls)
				}
			}
		})
	}
}

// Without a reflector, every replan in the middle of a step is a visit of the planner.
func TestToolGuardsReachThePlannersWorstCase(t *testing.T) {
	for _, at := range []engine.GuardPlace{engine.BeforeTool, engine.AfterTool} {
		p, h, book := defaults(t)
		p.Guards = []engine.Guard{{At: at, Do: engine.GuardReplan, Message: "again", When: guardOf("true", func(any) bool { return true })}}
		p.Graph, _ = defaultGraph(t, &node.ReflectorConfig{Strategy: "none"})
		p.Limits.MaxReplans, p.Limits.MaxSteps = 3, 20
		x := node.Executor.Config().(*node.ExecutorConfig)
		x.LLM.Name = "main"
		built(t, p, "executor", "executor", engine.AllSteps, x)
		e := costbound.Bound(p, costbound.Options{Context: contextWindow})
		runPER(p, h, "r")
		for _, part := range e.Parts {
			if part.Role == "planner" && (book.roles["planner"] != 4*3 || book.roles["planner"] > part.Calls.Most) {
				t.Errorf("at %s: %d calls, want %+v", at, book.roles["planner"], part.Calls)
			}
		}
	}
}

// defaults returns an agent with default limits, and a model that knows them.
func defaults(t *testing.T) (*engine.Program, engine.Host, *ledger) {
	t.Helper()
	p := perProgram(t)
	p.Limits = engine.Limits{MaxSteps: 20, ExecutorMaxIterations: 20, MessageHistoryLimit: 10, ExecutorMessageHistoryLimit: 10, MaxReplans: 10, MaxConsecutiveToolCalls: 5}
	p.Models[0].Params.MaxOutputTokens, p.Models[0].Cost = 500, &model.Cost{Input: 1, Output: 4}
	final := node.Finalizer.Config().(*node.FinalizerConfig)
	final.LLM.Name, final.FinalizerPromptTemplate = "main", compiledPrompt(final.FinalizerPromptTemplate)
	built(t, p, "finalizer", "finalizer", "", final)
	book := &ledger{}
	h := engine.Host{Models: map[string]model.Model{}, Tools: []tool.Binding{{Tool: lookTool{}}}}
	h.Models["main"] = costlyModel{&p.Models[0], book, 0, true, &exploitableSpec{p, 2}}
	return p, h, book
}

// exceeded returns what exceeds the estimate in a ledger or in a run's own usage.
func exceeded(e costbound.Estimate, b *ledger, res *engine.Result) (wrong []string) {
	b.mu.Lock() // an abandoned call may still be recorded
	defer b.mu.Unlock()
	say := func(what string, was, most any) { wrong = append(wrong, fmt.Sprintf("%s %v of %v", what, was, most)) }
	counts := []struct {
		what string
		was  int
		most costbound.Count
	}{
		{"calls", b.calls, e.Limited.Calls},
		{"attempts", b.calls + b.lost, costbound.Count{Most: e.Limited.Calls.Most + e.Limited.Extra.Most, Unbounded: e.Limited.Calls.Unbounded + e.Limited.Extra.Unbounded}},
		{"input", b.tokens.Input, e.Limited.Input},
		{"output", b.tokens.Output, e.Limited.Output},
		{"tokens", b.tokens.Total(), e.Limited.Tokens},
		{"tokens without limits", b.tokens.Total(), e.Total.Tokens},
		{"calls of the result", res.Usage.ModelCalls, e.Limited.Calls},
		{"tokens of the result", res.Usage.Total(), e.Limited.Tokens},
	}
	for _, c := range counts {
		if c.most.Known() && c.was > c.most.Most {
			say(c.what, c.was, c.most.Most)
		}
	}
	const dust = 1e-9
	for _, m := range []costbound.Money{e.Limited.Cost, e.Total.Cost} {
		if m.Known() && b.usd > m.Most+dust {
			say("USD", b.usd, m.Most)
		}
	}
	return wrong
}
