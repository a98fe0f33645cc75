package scripted_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/scripted"
)

// when returns a compiled condition that calls a Go function.
func when(source string, f func(map[string]any) (bool, error)) component.GuardRef {
	g := component.GuardRef{Source: source}
	g.Bind(f)
	return g
}

func newModel(t testing.TB, s model.Settings, replies ...scripted.Reply) model.Model {
	t.Helper()
	m, err := scripted.New(&scripted.Config{Replies: replies}, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// texts makes the calls and returns the texts or error kinds.
func texts(t *testing.T, m model.Model, reqs ...model.Request) []string {
	t.Helper()
	var out []string
	for _, req := range reqs {
		r, err := m.Generate(t.Context(), &req, nil)
		var e *model.Error
		switch {
		case errors.As(err, &e):
			out = append(out, string(e.Kind))
		case err != nil:
			t.Fatal(err)
		default:
			out = append(out, r.Text)
		}
	}
	return out
}

func TestFirstRemainingMatchIsUsed(t *testing.T) {
	planner, executor := model.Request{Role: "planner", Call: 1}, model.Request{Role: "executor", Call: 1, Step: "look"}
	second := model.Request{Role: "executor", Call: 2, Step: "look"}
	conversation := model.Request{Role: "planner", Messages: []model.Message{
		{Role: model.System, Text: model.Text{"be ", "brief"}},
		{Role: model.Assistant, Calls: []model.ToolCall{{Name: "find", Args: json.RawMessage(`{"q":"moss"}`)}}},
		{Role: model.ToolRole, Text: model.Text{"green"}},
	}}
	tests := []struct {
		name    string
		replies []scripted.Reply
		ask     []model.Request
		want    []string
	}{
		{
			"each once, in order",
			[]scripted.Reply{{Text: "a"}, {Text: "b"}},
			[]model.Request{planner, executor, planner},
			[]string{"a", "b", "no_reply"},
		},
		{
			"by role",
			[]scripted.Reply{{Role: "executor", Text: "e"}, {Role: "planner", Text: "p"}},
			[]model.Request{planner, executor, planner},
			[]string{"p", "e", "no_reply"},
		},
		{
			"so many times, then always",
			[]scripted.Reply{{Text: "twice", Times: new(2)}, {Text: "always", Times: new(0)}},
			[]model.Request{planner, planner, planner, planner},
			[]string{"twice", "twice", "always", "always"},
		},
		{
			"by call and step",
			[]scripted.Reply{
				{When: when("call == 2", func(e map[string]any) (bool, error) { return e["call"] == 2, nil }), Text: "second"},
				{When: when("step == 'look'", func(e map[string]any) (bool, error) { return e["step"] == "look", nil }), Text: "looked"},
				{When: when("role == 'planner'", func(e map[string]any) (bool, error) { return e["role"] == "planner", nil }), Text: "planned"},
			},
			[]model.Request{executor, second, planner},
			[]string{"looked", "second", "planned"},
		},
		{
			"by the text sent",
			[]scripted.Reply{{When: when("prompt == ...", func(e map[string]any) (bool, error) {
				return e["prompt"] == "be brief\n{\"q\":\"moss\"}\ngreen", nil
			}), Text: "saw it"}},
			[]model.Request{planner, conversation},
			[]string{"no_reply", "saw it"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, texts(t, newModel(t, model.Settings{}, tt.replies...), tt.ask...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPromptIsRenderedOnlyIfUsed(t *testing.T) {
	m := newModel(t, model.Settings{}, scripted.Reply{
		When: when("call == 1", func(e map[string]any) (bool, error) {
			if e["prompt"] != "" {
				t.Error("the prompt was rendered")
			}
			return true, nil
		}), Text: "x",
	})
	texts(t, m, model.Request{Call: 1, Messages: []model.Message{{Text: model.Text{"long"}}}})
}

func TestEachRunStartsTheScript(t *testing.T) {
	m := newModel(t, model.Settings{}, scripted.Reply{Text: "once"}).(model.RunScoped)
	for _, run := range []string{"a", "b", "a"} {
		got := texts(t, m.ForRun(run), model.Request{Role: "planner"}, model.Request{Role: "planner"})
		if diff := cmp.Diff([]string{"once", "no_reply"}, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestChoiceFollowsTheOrderOfRequests(t *testing.T) {
	m := newModel(t, model.Settings{}, scripted.Reply{Text: "a", Delay: time.Second}, scripted.Reply{Text: "b"}).(model.RunScoped).ForRun("r")
	req := &model.Request{Role: "executor"}
	first, second := m.(model.Sequenced).Choose(req), m.(model.Sequenced).Choose(req)
	got := append(texts(t, second, *req), texts(t, first, *req)...)
	if diff := cmp.Diff([]string{"b", "a"}, got); diff != "" {
		t.Error(diff)
	}
	if d := first.(model.Delayed).Delay(); d != time.Second {
		t.Errorf("delay %v", d)
	}
}

func TestReplyIsComplete(t *testing.T) {
	m := newModel(t, model.Settings{Name: "main"}, scripted.Reply{
		Text: "let me see",
		ToolCalls: []scripted.ToolCall{
			{Name: "find", Arguments: map[string]any{"q": "a<b", "n": 2}},
			{Name: "clock"},
			{Name: "broken", Arguments: `{"x":`},
		},
		Usage: &scripted.Usage{InputTokens: 10, OutputTokens: 4, CachedInputTokens: 3, ReasoningTokens: 1},
		Delay: 2 * time.Second,
	})
	earlier := []model.Message{{Role: model.Assistant, Calls: make([]model.ToolCall, 2)}}
	got, err := m.Generate(t.Context(), &model.Request{Messages: earlier}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &model.Reply{
		Text: "let me see", Stop: model.ToolUse, Model: "main", Latency: 2 * time.Second,
		Usage: model.Tokens{Input: 10, Output: 4, Cached: 3, Reasoning: 1},
		Calls: []model.ToolCall{
			{ID: "call_2", Name: "find", Args: json.RawMessage(`{"n":2,"q":"a<b"}`)},
			{ID: "call_3", Name: "clock", Args: json.RawMessage(`{}`)},
			{ID: "call_4", Name: "broken", Args: json.RawMessage(`{"x":`)},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMissingUsageIsEstimatedFromCharacters(t *testing.T) {
	m := newModel(t, model.Settings{}, scripted.Reply{Text: "ééééé"})
	got, err := m.Generate(t.Context(), &model.Request{Messages: []model.Message{{Text: model.Text{"日本語", "を話す"}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Estimated || got.Usage != (model.Tokens{Input: 2, Output: 2}) {
		t.Errorf("usage %+v", got.Usage)
	}
}

func TestStopReasons(t *testing.T) {
	call := []scripted.ToolCall{{Name: "t"}}
	tests := []struct {
		name  string
		reply scripted.Reply
		want  model.StopReason
	}{
		{"text", scripted.Reply{Text: "x"}, model.EndTurn},
		{"nothing", scripted.Reply{}, model.EndTurn},
		{"calls", scripted.Reply{ToolCalls: call}, model.ToolUse},
		{"calls cut", scripted.Reply{ToolCalls: call, StopReason: model.MaxTokens}, model.MaxTokens},
		{"refusal", scripted.Reply{Text: "no", StopReason: model.Refusal}, model.Refusal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := newModel(t, model.Settings{}, tt.reply).Generate(t.Context(), &model.Request{}, nil)
			if err != nil || got.Stop != tt.want {
				t.Errorf("stop %+v, %v", got, err)
			}
		})
	}
}

func TestStreamContainsTheText(t *testing.T) {
	for _, text := range []string{"", "a", "日本語を話す人", strings.Repeat("word ", 100)} {
		m := newModel(t, model.Settings{}, scripted.Reply{Text: text})
		var got []string
		r, err := m.Generate(t.Context(), &model.Request{}, func(d model.Delta) { got = append(got, d.Text) })
		if err != nil || r.Text != text || strings.Join(got, "") != text || len(got) > 5 {
			t.Errorf("%q in %q, %v", text, got, err)
		}
	}
}

func TestCanceledCallFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newModel(t, model.Settings{}, scripted.Reply{}).Generate(ctx, &model.Request{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestConcurrentCallsUseEachReplyOnce(t *testing.T) {
	var replies []scripted.Reply
	for i := range 200 {
		replies = append(replies, scripted.Reply{Text: fmt.Sprint(i)})
	}
	m := newModel(t, model.Settings{}, replies...)
	var mu sync.Mutex
	counts := map[string]int{}
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			r, err := m.Generate(t.Context(), &model.Request{}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			counts[r.Text]++
		})
	}
	all.Wait()
	if len(counts) != 200 {
		t.Errorf("%d different replies", len(counts))
	}
}

func TestFactoryDefaults(t *testing.T) {
	c := scripted.Scripted.Config().(*scripted.Config)
	c.Replies = []scripted.Reply{{Text: "hello"}}
	m, err := scripted.Scripted.Build(c, model.Settings{Name: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"hello"}, texts(t, m, model.Request{})); diff != "" {
		t.Error(diff)
	}
}

// No id is used twice, even if earlier calls were removed from the conversation.
func TestCallIDsAreUnique(t *testing.T) {
	m := newModel(t, model.Settings{}, scripted.Reply{ToolCalls: []scripted.ToolCall{{Name: "find"}}})
	r, err := m.Generate(t.Context(), &model.Request{Messages: []model.Message{
		{Role: model.Assistant, Calls: []model.ToolCall{{ID: "call_7", Name: "find"}, {ID: "of another model", Name: "find"}}},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if id := r.Calls[0].ID; id != "call_9" {
		t.Errorf("the id is %s", id)
	}
}
