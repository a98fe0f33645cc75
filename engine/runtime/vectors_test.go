package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// fakeEmbedder makes embeddings. It reports a token per four bytes, no usage, or an error.
type fakeEmbedder struct {
	silent bool
	fails  error

	mu      sync.Mutex
	sizes   []int // sizes of its requests
	metered []bool
}

func (m *fakeEmbedder) Embed(ctx context.Context, texts []string) ([][]float64, model.Tokens, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	size := len(strings.Join(texts, ""))
	m.sizes, m.metered = append(m.sizes, size), append(m.metered, model.Metered(ctx))
	switch {
	case m.fails != nil:
		return nil, model.Tokens{}, m.fails
	case m.silent:
		return make([][]float64, len(texts)), model.Tokens{}, nil
	}
	return make([][]float64, len(texts)), model.Tokens{Input: size / 4}, nil
}

// embeddingTool is a tool that embeds a question, and texts whose embeddings it stores.
type embeddingTool struct {
	effect tool.Effect
	mu     sync.Mutex
	want   []int // sizes of texts
	stored map[int]bool
	calls  int
}

func (f *embeddingTool) tool() tool.Binding {
	effect := f.effect
	if effect == "" {
		effect = tool.ReadEffect
	}
	return tool.Binding{Spec: &tool.Spec{Name: "shelf", Config: vectorConfig{"v"}}, Tool: funcTool{effect, f.call}}
}

func (f *embeddingTool) call(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	rest := 0
	for i, n := range f.want {
		if !f.stored[i] {
			rest += n
		}
	}
	if _, err := c.Embed(ctx, []string{"why?"}, rest); err != nil {
		return &tool.Output{Text: "words alone: " + err.Error()}, nil
	}
	for i, n := range f.want {
		if f.stored[i] {
			continue
		}
		rest -= n
		if _, err := c.Embed(ctx, []string{strings.Repeat("w", n)}, rest); err != nil {
			return &tool.Output{Text: "words alone: " + err.Error()}, nil
		}
		f.stored[i] = true
	}
	return &tool.Output{Text: "found"}, nil
}

// callEmbeddingTool runs n calls of an embeddingTool.
func callEmbeddingTool(t *testing.T, f *embeddingTool, m *fakeEmbedder, l engine.Limits, n int, j *journal.Memory) (*engine.Result, []tool.Record) {
	t.Helper()
	if f.stored == nil {
		f.stored = map[int]bool{}
	}
	var recs []tool.Record
	p := program(map[string]nodeFunc{"a": callTool("shelf", n, n > 1, &recs)})
	p.Limits.MaxTokens, p.Limits.MaxCost, p.Limits.ReserveTokens = l.MaxTokens, l.MaxCost, l.ReserveTokens
	p.Models = []engine.ModelSpec{{Name: "v", Cost: &model.Cost{Input: 2}}}
	h := engine.Host{Tools: []tool.Binding{f.tool()}, Embedders: map[string]model.Embedder{"v": m}}
	return session(t, p, h, j, runtime.Options{Virtual: true}), recs
}

func TestEmbeddingsAreCharged(t *testing.T) {
	lost := &model.Error{Kind: model.Truncated, Message: "it broke"}
	tests := []struct {
		name   string
		shelf  embeddingTool
		maker  fakeEmbedder
		limits engine.Limits
		calls  int    // of the tool's code
		text   string // output of the call
		tokens int
		lost   int
		stop   stop.Code
	}{
		{"without a budget", embeddingTool{want: []int{4000, 400}}, fakeEmbedder{}, engine.Limits{}, 1, "found", 1101, 0, stop.Answered},
		{"estimated if not reported", embeddingTool{want: []int{402}}, fakeEmbedder{silent: true}, engine.Limits{}, 1, "found", 102, 0, stop.Answered},
		{"of the arguments alone: nothing is asked for twice", embeddingTool{}, fakeEmbedder{}, engine.Limits{MaxTokens: 1000}, 1, "found", 1, 0, stop.Answered},
		{"of more: paid for, and called again", embeddingTool{want: []int{4000, 400}}, fakeEmbedder{}, engine.Limits{MaxTokens: 3000}, 2, "found", 1101, 0, stop.Answered},
		{"of more than there are tokens", embeddingTool{want: []int{4000, 400}}, fakeEmbedder{}, engine.Limits{MaxTokens: 2200, ReserveTokens: 1}, 1, "", 0, 0, stop.BudgetTokens},
		{"of more than there are dollars", embeddingTool{want: []int{4000, 400}}, fakeEmbedder{}, engine.Limits{MaxCost: 0.005}, 1, "", 0, 0, stop.BudgetCost},
		{"of less than the dollars", embeddingTool{want: []int{4000, 400}}, fakeEmbedder{}, engine.Limits{MaxCost: 0.006}, 2, "found", 1101, 0, stop.Answered},
		{"unknown usage", embeddingTool{}, fakeEmbedder{fails: lost}, engine.Limits{MaxTokens: 1000}, 1, "words alone: truncated: it broke", 0, 2, stop.Answered},
		{"rejected requests are not charged", embeddingTool{}, fakeEmbedder{fails: &model.Error{Kind: model.Overloaded, Message: "no"}}, engine.Limits{MaxTokens: 1000}, 1, "words alone: overloaded: no", 0, 0, stop.Answered},
		{"lost without a budget", embeddingTool{}, fakeEmbedder{fails: lost}, engine.Limits{}, 1, "words alone: truncated: it broke", 0, 0, stop.Answered},
		{
			"a call that writes is made once",
			embeddingTool{want: []int{4000}, effect: tool.WriteEffect},
			fakeEmbedder{},
			engine.Limits{MaxTokens: 3000},
			1,
			"words alone: a tool that writes is called only once, so the call may embed 20 tokens, but needs 2002", 0, 0, stop.Answered,
		},
	}
	for i := range tests {
		tt := &tests[i]
		t.Run(tt.name, func(t *testing.T) {
			j := &journal.Memory{RoundTrip: true}
			res, recs := callEmbeddingTool(t, &tt.shelf, &tt.maker, tt.limits, 1, j)
			if res.StopReason.Code != tt.stop || tt.shelf.calls != tt.calls || tt.text != "" && recs[0].Text() != tt.text {
				t.Fatalf("%d calls, %q, %+v", tt.shelf.calls, recs[0].Text(), res.StopReason)
			}
			want := engine.Usage{ToolCalls: res.Usage.ToolCalls, Tokens: model.Tokens{Input: tt.tokens}, CostUSD: 2e-6 * float64(tt.tokens)}
			if tt.tokens > 0 {
				want.ByModel = map[string]engine.ModelUsage{"v": {Tokens: want.Tokens, CostUSD: want.CostUSD}}
			}
			if diff := cmp.Diff(want, res.Usage, cmpopts.EquateApprox(1e-9, 0), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if got := res.LostCharges["tool.0"].Tokens; got != tt.lost || (len(res.Warnings) > 0) != (tt.lost > 0) {
				t.Errorf("lost %v, warnings %v", res.LostCharges, res.Warnings)
			}
			if budget := tt.limits != (engine.Limits{}); slices.Contains(tt.maker.metered, !budget) {
				t.Errorf("metered %v", tt.maker.metered)
			}
			sent := len(tt.maker.sizes)
			again, _ := callEmbeddingTool(t, &tt.shelf, &tt.maker, tt.limits, 1, j)
			if diff := cmp.Diff(res.Usage, again.Usage); diff != "" || len(tt.maker.sizes) != sent || tt.shelf.calls != tt.calls {
				t.Errorf("replay: %d more requests, %d calls, %s", len(tt.maker.sizes)-sent, tt.shelf.calls, diff)
			}
		})
	}
}

// TestConcurrentEmbeddingCallsRunInOrder: three calls need the same embeddings, and the
// budget suffices for one, which is always the first.
func TestConcurrentEmbeddingCallsRunInOrder(t *testing.T) {
	for _, l := range []engine.Limits{{}, {MaxTokens: 2300, ReserveTokens: 1}} {
		var runs [2][]journal.Record
		for i := range runs {
			m, f, j := &fakeEmbedder{}, &embeddingTool{want: []int{4000}}, &journal.Memory{RoundTrip: true}
			res, recs := callEmbeddingTool(t, f, m, l, 3, j)
			if res.StopReason.Code != stop.Answered || res.Usage.Input != 1003 || slices.ContainsFunc(recs, func(r tool.Record) bool { return r.Text() != "found" }) {
				t.Fatalf("%+v %+v %+v", res.StopReason, res.Usage, recs)
			}
			if diff := cmp.Diff([]int{4, 4000, 4, 4}, m.sizes); diff != "" {
				t.Error(diff)
			}
			runs[i] = j.Records
		}
		if diff := cmp.Diff(runs[0], runs[1]); diff != "" {
			t.Errorf("two fresh runs differ: %s", diff)
		}
	}
}

// TestConcurrentEmbeddingCallsOfEarlierVersionsResume: an earlier version did not limit
// the concurrency of such tools and did not charge embeddings. Its journals are resumed
// from any record.
func TestConcurrentEmbeddingCallsOfEarlierVersionsResume(t *testing.T) {
	whole := &journal.Memory{RoundTrip: true}
	var recs []tool.Record
	p := program(map[string]nodeFunc{"a": callTool("shelf", 3, true, &recs)})
	p.Models = []engine.ModelSpec{{Name: "v"}}
	old := tool.Binding{Spec: &tool.Spec{Name: "shelf"}, Tool: funcTool{tool.ReadEffect, func(context.Context, *tool.Call) (*tool.Output, error) {
		return &tool.Output{Text: "found"}, nil
	}}}
	session(t, p, engine.Host{Tools: []tool.Binding{old}}, whole, runtime.Options{Virtual: true})
	for _, l := range []engine.Limits{{}, {MaxTokens: 6000, ReserveTokens: 1}} {
		for cut := 1; cut <= len(whole.Records); cut++ {
			j := &journal.Memory{RoundTrip: true, Records: slices.Clone(whole.Records[:cut:cut])}
			res, recs := callEmbeddingTool(t, &embeddingTool{want: []int{400}}, &fakeEmbedder{}, l, 3, j)
			if res.StopReason.Code != stop.Answered || slices.ContainsFunc(recs, func(r tool.Record) bool { return r.Text() != "found" }) {
				t.Errorf("cut after %d, %+v: %+v %+v", cut, l, res.StopReason, recs)
			}
		}
	}
}

// TestSharedEmbeddingsAreChargedOnce: two tools need the same embeddings, and the budget
// suffices for one of them. The other then finds them stored.
func TestSharedEmbeddingsAreChargedOnce(t *testing.T) {
	m, f := &fakeEmbedder{}, &embeddingTool{want: []int{4000}, stored: map[int]bool{}}
	p := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
		return s.Parallel(2, func(i int) string { return fmt.Sprint("b", i) }, func(i int, s engine.Scope) error {
			_, _, err := s.Tool("tool", engine.Invocation{Tool: fmt.Sprint("shelf", i)})
			return err
		})
	}})
	p.Limits.MaxTokens, p.Limits.ReserveTokens = 2300, 1
	p.Models = []engine.ModelSpec{{Name: "v", Cost: &model.Cost{Input: 2}}}
	h := engine.Host{Embedders: map[string]model.Embedder{"v": m}}
	var both sync.WaitGroup
	both.Add(2)
	for i := range 2 {
		one := f.tool()
		one.Spec.Name = fmt.Sprint("shelf", i)
		first := true
		one.Tool = funcTool{tool.ReadEffect, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
			out, err := f.call(ctx, c)
			if first { // both check before one is called again
				first = false
				both.Done()
				both.Wait()
			}
			return out, err
		}}
		h.Tools = append(h.Tools, one)
	}
	res := session(t, p, h, &journal.Memory{}, runtime.Options{Virtual: true})
	if res.StopReason.Code != stop.Answered || res.Usage.Input != 1002 || f.calls != 4 {
		t.Errorf("%+v %+v, %d calls", res.StopReason, res.Usage, f.calls)
	}
}

// TestResumedRunChargesEmbeddingsOnce cuts a run after each record of its journal.
// Finished embeddings are charged as before and not made again. For a call in flight the
// worst case is charged, and it is repeated for the missing ones.
func TestResumedRunChargesEmbeddingsOnce(t *testing.T) {
	l := engine.Limits{MaxTokens: 6000, ReserveTokens: 1}
	whole := &journal.Memory{RoundTrip: true}
	callEmbeddingTool(t, &embeddingTool{want: []int{4000, 400}}, &fakeEmbedder{}, l, 1, whole)
	answered, doubtful := 0, 0
	for cut := 1; cut < len(whole.Records); cut++ {
		f, m := &embeddingTool{want: []int{4000, 400}}, &fakeEmbedder{}
		j := &journal.Memory{RoundTrip: true, Records: slices.Clone(whole.Records[:cut:cut])}
		open := j.Records[cut-1].Kind == journal.Intent
		granted := slices.ContainsFunc(j.Records, func(r journal.Record) bool { return r.Path == "tool.0.again.1" })
		done := slices.ContainsFunc(j.Records, func(r journal.Record) bool { return r.Path == "tool.0.again.1" && r.Kind == journal.Result })
		res, _ := callEmbeddingTool(t, f, m, l, 1, j)
		lost, made := 0, 1101
		switch {
		case done:
			answered++
			if f.calls != 0 {
				t.Errorf("cut after %d: called %d times again", cut, f.calls)
			}
		case open && granted:
			lost = 2202 // "why?", and all texts
			doubtful++
		case open:
			lost = 20 // the arguments
			doubtful++
		}
		sum := 0
		for _, c := range res.LostCharges {
			sum += c.Tokens
		}
		if res.StopReason.Code != stop.Answered || res.Usage.Input != made || sum != lost {
			t.Errorf("cut after %d: %+v, %d tokens, %v lost, want %d", cut, res.StopReason, res.Usage.Input, res.LostCharges, lost)
		}
	}
	if answered == 0 || doubtful < 2 {
		t.Errorf("only %d cuts after the answer and %d during the call", answered, doubtful)
	}
}

func TestEmbeddingsOfNestedAgentsCount(t *testing.T) {
	f, m := &embeddingTool{want: []int{4000}, stored: map[int]bool{}}, &fakeEmbedder{}
	var recs []tool.Record
	inner := program(map[string]nodeFunc{"a": callTool("shelf", 1, false, &recs)})
	inner.Models = []engine.ModelSpec{{Name: "v", Cost: &model.Cost{Input: 2}}}
	for _, tokens := range []int{1500, 2300} {
		p := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
			_, err := s.Agent("inner", inner, nil)
			return err
		}})
		p.Limits.MaxTokens, p.Limits.ReserveTokens, p.Agents = tokens, 1, []*engine.Program{inner}
		h := engine.Host{Nested: func(*engine.Program, map[string]any) (engine.Host, error) {
			return engine.Host{Tools: []tool.Binding{f.tool()}, Embedders: map[string]model.Embedder{"v": m}}, nil
		}}
		res := session(t, p, h, &journal.Memory{RoundTrip: true}, runtime.Options{Virtual: true})
		want := stop.BudgetTokens
		if tokens > 2000 {
			want = stop.Answered
		}
		if res.StopReason.Code != want || want == stop.Answered && res.Usage.ByModel["v"].Input != 1001 {
			t.Errorf("%d: %+v %+v", tokens, res.StopReason, res.Usage)
		}
	}
}

func TestMissingEmbedderIsAnError(t *testing.T) {
	var got string
	nobody := funcTool{tool.ReadEffect, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		if c.Embed == nil {
			got = "none"
			return &tool.Output{}, nil
		}
		none, err := c.Embed(ctx, nil, 0)
		_, some := c.Embed(ctx, []string{"x"}, 0)
		got = fmt.Sprint(none, err, some)
		return nil, errors.New("words alone")
	}}
	for want, config := range map[string]any{"none": nil, "[] <nil> llm v cannot make embeddings here": vectorConfig{"v"}} {
		var recs []tool.Record
		p := program(map[string]nodeFunc{"a": callTool("t", 1, false, &recs)})
		p.Models = []engine.ModelSpec{{Name: "v"}}
		one := tool.Binding{Spec: &tool.Spec{Name: "t", Config: config}, Tool: nobody}
		if runs(p, engine.Host{Tools: []tool.Binding{one}}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestGrowingEmbeddingRequestsAreLimited uses a tool that needs more than its grant each
// time it is called.
func TestGrowingEmbeddingRequestsAreLimited(t *testing.T) {
	size, calls := 100, 0
	greedy := funcTool{tool.ReadEffect, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		size, calls = size+100, calls+1
		_, err := c.Embed(ctx, []string{strings.Repeat("w", size)}, 0)
		return nil, err
	}}
	var recs []tool.Record
	p := program(map[string]nodeFunc{"a": callTool("t", 1, false, &recs)})
	p.Models, p.Limits.MaxTokens = []engine.ModelSpec{{Name: "v"}}, 100_000
	one := tool.Binding{Spec: &tool.Spec{Name: "t", Config: vectorConfig{"v"}}, Tool: greedy}
	runs(p, engine.Host{Tools: []tool.Binding{one}, Embedders: map[string]model.Embedder{"v": &fakeEmbedder{}}})
	if !strings.Contains(recs[0].Text(), "embeds other texts in each call") || calls != 21 {
		t.Errorf("%d calls, %s", calls, recs[0].Text())
	}
}
