package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// scriptedModel replies to samples with numbered replies and records the requests.
type scriptedModel struct {
	mu      sync.Mutex
	asked   []*model.Request
	begun   chan struct{} // closed at the first call
	release chan struct{} // the first call waits for it; nil = it does not wait
}

func (o *scriptedModel) Choose(req *model.Request) model.Model {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, req)
	return o
}

func (o *scriptedModel) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	if o.release != nil {
		close(o.begun)
		<-o.release
	}
	return &model.Reply{Text: "the word is hunter2-hunter2", Stop: model.EndTurn, Usage: model.Tokens{Input: 30, Output: 10}}, nil
}

// sampling runs one call of a tool that may sample the LLM m.
func sampling(t *testing.T, o *scriptedModel, l engine.Limits, may tool.Sampling, call func(context.Context, *tool.Call) (*tool.Output, error)) (*engine.Result, tool.Record) {
	t.Helper()
	var recs []tool.Record
	p := program(map[string]nodeFunc{"a": callTool("srv__ask", 1, false, &recs)})
	p.Limits = l
	p.Models = []engine.ModelSpec{{Name: "m", Cost: &model.Cost{Input: 1, Output: 10}, Params: model.Params{Model: "small", MaxOutputTokens: 400}}}
	set := &enginetest.Toolset{Tools: []tool.Definition{{Name: "ask"}}, ToolRules: tool.Rules{Sampling: may}}
	set.Respond = func(ctx context.Context, _ string, c *tool.Call) (*tool.Output, error) { return call(ctx, c) }
	h := engine.Host{
		Tools: []tool.Binding{named("srv", set)}, Models: map[string]model.Model{"m": o},
		Secrets: secret.New(map[string]string{"KEY": "hunter2-hunter2"}),
	}
	res := session(t, p, h, &journal.Memory{RoundTrip: true}, runtime.Options{Conversation: true})
	if len(recs) == 0 {
		return res, tool.Record{}
	}
	return res, recs[0]
}

func ofSize(size int) []model.Message {
	return []model.Message{{Role: model.User, Text: model.Text{strings.Repeat("w", size)}}}
}

func TestToolCanSampleAnLLM(t *testing.T) {
	var failures []string
	call := func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		var asking sync.WaitGroup
		for range 2 {
			asking.Go(func() {
				if r, err := c.Sample(ctx, ofSize(100), 50); err != nil || strings.Contains(r.Text, "hunter2") {
					t.Errorf("%+v %v", r, err)
				}
			})
		}
		asking.Wait()
		for _, size := range []int{5000, 100, 100} {
			if _, err := c.Sample(ctx, ofSize(size), 0); err != nil {
				failures = append(failures, err.Error())
			}
		}
		return &tool.Output{Text: "done"}, nil
	}
	o := &scriptedModel{}
	res, rec := sampling(t, o, engine.Limits{MaxTokens: 50_000}, tool.Sampling{LLM: "m", MaxCalls: 3, MaxTokens: 1000}, call)
	if res.Status != stop.RunCompleted || rec.Text() != "done" {
		t.Fatalf("%+v %+v", res.StopReason, rec)
	}
	want := map[string]engine.ModelUsage{"m": {ModelCalls: 3, Tokens: model.Tokens{Input: 90, Output: 30}, CostUSD: 390e-6}}
	if diff := cmp.Diff(want, res.Usage.ByModel, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })); diff != "" {
		t.Error(diff)
	}
	if len(res.Conversation) != 0 || len(res.LostCharges) != 0 {
		t.Errorf("conversation %v, lost %v", res.Conversation, res.LostCharges)
	}
	if diff := cmp.Diff([]string{"the request of the tool to llm m exceeds its limit of 1000 tokens", "a call may use llm m at most 3 times"}, failures); diff != "" {
		t.Error(diff)
	}
	var asked []string
	slices.SortFunc(o.asked, func(a, b *model.Request) int { return a.Call - b.Call })
	for _, r := range o.asked {
		asked = append(asked, fmt.Sprint(r.Role, " ", r.Call, " ", r.Params.Model, " ", r.Params.MaxOutputTokens, " ", r.Metered, " ", r.Key))
	}
	if diff := cmp.Diff([]string{"tool 1 small 50 true r/tool.0/sample.1", "tool 2 small 50 true r/tool.0/sample.2", "tool 3 small 400 true r/tool.0/sample.3"}, asked); diff != "" {
		t.Error(diff)
	}
}

func TestToolWithoutSamplingHasNoLLM(t *testing.T) {
	_, rec := sampling(t, &scriptedModel{}, engine.Limits{}, tool.Sampling{}, func(_ context.Context, c *tool.Call) (*tool.Output, error) {
		return &tool.Output{Text: fmt.Sprint(c.Sample == nil)}, nil
	})
	if rec.Text() != "true" {
		t.Errorf("%+v", rec)
	}
}

// TestSampleInFlightAtTheEndOfACallIsCharged ends a call during a sample, whose worst case
// is charged.
func TestSampleInFlightAtTheEndOfACallIsCharged(t *testing.T) {
	o := &scriptedModel{begun: make(chan struct{}), release: make(chan struct{})}
	defer close(o.release)
	res, rec := sampling(t, o, engine.Limits{MaxTokens: 50_000}, tool.Sampling{LLM: "m", MaxCalls: 3, MaxTokens: 1000}, func(_ context.Context, c *tool.Call) (*tool.Output, error) {
		go func() { _, _ = c.Sample(context.Background(), ofSize(100), 0) }()
		<-o.begun
		return &tool.Output{Text: "done"}, nil
	})
	if diff := cmp.Diff(map[string]engine.Charge{"tool.0": {Tokens: 1000, CostUSD: 0.01}}, res.LostCharges); diff != "" || rec.Text() != "done" || res.Usage.ModelCalls != 0 {
		t.Errorf("%+v, %d calls: %s", rec, res.Usage.ModelCalls, diff)
	}
}

func TestSamplingBeyondTheBudgetIsNotStarted(t *testing.T) {
	begun := false
	res, _ := sampling(t, &scriptedModel{}, engine.Limits{MaxTokens: 2000, ReserveTokens: 1}, tool.Sampling{LLM: "m", MaxCalls: 3, MaxTokens: 1000}, func(context.Context, *tool.Call) (*tool.Output, error) {
		begun = true
		return &tool.Output{}, nil
	})
	if res.StopReason.Code != stop.BudgetTokens || begun {
		t.Errorf("%+v, begun %v", res.StopReason, begun)
	}
}
