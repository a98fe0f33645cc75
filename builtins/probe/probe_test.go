package probe_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/builtins/probe"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/model"
)

// fakeModel replies according to the kind of request.
type fakeModel struct {
	mu       sync.Mutex
	requests []model.Request

	text, stream, schema string
	estimated            bool
	stop                 model.StopReason
	tools                func(turn int) model.Reply
	err                  func(*model.Request, bool) error
	delay                time.Duration
}

// capableModel returns a model that supports everything.
func capableModel() *fakeModel {
	return &fakeModel{
		text: "pong", stream: "1 2 3", schema: `{"spot":"Oslo","letters":4,"side":"north"}`, stop: model.EndTurn,
		tools: func(turn int) model.Reply {
			if turn == 1 {
				return calling(`{"name":"alpha"}`, `{"name":"beta"}`)
			}
			return model.Reply{Text: "7341 and 2958"}
		},
	}
}

func calling(args ...string) model.Reply {
	r := model.Reply{Stop: model.ToolUse}
	for i, a := range args {
		r.Calls = append(r.Calls, model.ToolCall{ID: fmt.Sprint("c", i), Name: "lookup_code", Args: json.RawMessage(a)})
	}
	return r
}

func (m *fakeModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	m.mu.Lock()
	m.requests = append(m.requests, *req)
	m.mu.Unlock()
	if m.delay > 0 {
		select {
		case <-time.After(m.delay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if m.err != nil {
		if err := m.err(req, stream != nil); err != nil {
			return nil, err
		}
	}
	r := model.Reply{Text: m.text}
	switch {
	case len(req.Tools) > 0:
		r = m.tools(req.Call)
	case req.Schema != nil:
		r.Text = m.schema
	case stream != nil:
		r.Text = m.stream
		for _, word := range strings.SplitAfter(m.stream, " ") {
			stream(model.Delta{Text: word})
		}
	}
	if r.Stop == "" {
		r.Stop = m.stop
	}
	r.Usage, r.Estimated = model.Tokens{Input: 50, Output: 10}, m.estimated
	return &r, nil
}

// formatFindings formats findings as text.
func formatFindings(found []probe.Finding) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s %s calls=%d tokens=%d", f.Check, f.Verdict, f.Calls, f.Tokens.Total())
		if f.Note != "" {
			fmt.Fprintf(&b, " note=%s", f.Note)
		}
		if f.Error != nil {
			fmt.Fprintf(&b, " error=%s", f.Error)
		}
		if f.Fix != "" {
			fmt.Fprintf(&b, " out=%s", f.Fix)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func target(m model.Model) probe.Target {
	return probe.Target{Model: m, Path: "llms.main", Address: "llms.main.base_url", Params: model.Params{Model: "m"}, KeyEnvs: []string{"THE_KEY"}}
}

func TestFindings(t *testing.T) {
	refusing := func(kind model.ErrorKind, only func(*model.Request, bool) bool) func(*model.Request, bool) error {
		return func(r *model.Request, streamed bool) error {
			if only == nil || only(r, streamed) {
				return &model.Error{Kind: kind, Status: 400, Message: "the server says no"}
			}
			return nil
		}
	}
	tests := []struct {
		name   string
		change func(*fakeModel)
	}{
		{"able", func(*fakeModel) {}},
		{"not counted", func(m *fakeModel) { m.estimated = true }},
		{"thinks away its tokens", func(m *fakeModel) {
			m.text, m.stream, m.schema, m.stop = "", "", "", model.MaxTokens
			m.tools = func(int) model.Reply { return model.Reply{} }
		}},
		{"says nothing", func(m *fakeModel) { m.text = " \n" }},
		{"declines", func(m *fakeModel) { m.text, m.stop = "", model.Refusal }},
		{"declines in words", func(m *fakeModel) { m.text = "I'm sorry, but I can't help with that." }},
		{"in one piece", func(m *fakeModel) { m.stream = "123" }},
		{"calls one by one", func(m *fakeModel) {
			m.tools = func(turn int) model.Reply {
				return []model.Reply{{}, calling(`{"name":"alpha"}`), calling(`{"name":"beta"}`), {Text: "7341 2958"}}[turn]
			}
		}},
		{"calls for ever", func(m *fakeModel) { m.tools = func(int) model.Reply { return calling(`{"name":"alpha"}`) } }},
		{"calls nothing", func(m *fakeModel) {
			m.tools = func(int) model.Reply { return model.Reply{Text: "I would look them up."} }
		}},
		{"calls with text", func(m *fakeModel) {
			m.tools = func(turn int) model.Reply {
				return []model.Reply{{}, calling(`alpha`), {Text: "7341 2958"}}[turn]
			}
		}},
		{"calls what there is not", func(m *fakeModel) {
			m.tools = func(int) model.Reply { return model.Reply{Calls: []model.ToolCall{{ID: "x", Name: "search"}}} }
		}},
		{"does not read results", func(m *fakeModel) {
			m.tools = func(turn int) model.Reply {
				return []model.Reply{{}, calling(`{"name":"alpha"}`, `{"name":"beta"}`), {Text: "They are 1 and 2."}}[turn]
			}
		}},
		{"results refused", func(m *fakeModel) {
			m.err = refusing(model.BadRequest, func(r *model.Request, _ bool) bool { return len(r.Messages) > 1 })
		}},
		{"tools refused", func(m *fakeModel) {
			m.err = refusing(model.BadRequest, func(r *model.Request, _ bool) bool { return len(r.Tools) > 0 })
		}},
		{"schema refused", func(m *fakeModel) {
			m.err = refusing(model.BadRequest, func(r *model.Request, _ bool) bool { return r.Schema != nil })
		}},
		{"schema ignored", func(m *fakeModel) { m.schema = "Oslo is a city." }},
		{"schema in a fence", func(m *fakeModel) { m.schema = "```json\n" + m.schema + "\n```" }},
		{"schema of its own", func(m *fakeModel) { m.schema = `{"name":"Oslo","population":700000}` }},
		{"stream cut", func(m *fakeModel) {
			m.err = refusing(model.Truncated, func(_ *model.Request, streamed bool) bool { return streamed })
		}},
		{"no key", func(m *fakeModel) { m.err = refusing(model.AuthError, nil) }},
		{"no server", func(m *fakeModel) {
			m.err = func(*model.Request, bool) error { return errors.New("connection refused") }
		}},
		{"no such model", func(m *fakeModel) { m.err = refusing(model.NotFound, nil) }},
		{"no API", func(m *fakeModel) { m.err = refusing(model.BadReply, nil) }},
	}
	a := goldentest.Txtar(t, "testdata/findings.txtar")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := capableModel()
			tt.change(m)
			a.Want(t, strings.ReplaceAll(tt.name, " ", "_"), formatFindings(probe.Run(t.Context(), target(m), probe.Options{})))
		})
	}
}

// A fix does not mention keys that the spec does not have.
func TestFixesNameTheURLOnlyIfTheSpecHasOne(t *testing.T) {
	for kind, want := range map[model.ErrorKind]string{
		model.NotFound:     "check that the server offers the model in llms.main.model",
		model.BadReply:     "check that the provider is correct",
		model.NetworkError: "check that the server is running and reachable; HTTPS_PROXY sets a proxy, PEX_CA_FILE the certificate of a private CA",
	} {
		m := capableModel()
		m.err = func(*model.Request, bool) error { return &model.Error{Kind: kind, Message: "no"} }
		tg := target(m)
		tg.Address = ""
		if got := probe.Run(t.Context(), tg, probe.Options{})[0].Fix; got != want {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

func TestSchemaByPrompt(t *testing.T) {
	m := capableModel()
	byPrompt := modelFunc(func(ctx context.Context, r *model.Request, stream func(model.Delta)) (*model.Reply, error) {
		if r.Schema != nil && !strings.Contains(r.Messages[0].Text.String(), "JSON Schema") {
			return &model.Reply{Text: `{"city":"Oslo"}`, Stop: model.EndTurn}, nil
		}
		return m.Generate(ctx, r, stream)
	})
	f := probe.Run(t.Context(), target(byPrompt), probe.Options{})[4]
	if f.Verdict != probe.Yes || f.Calls != 2 || !strings.HasPrefix(f.Note, "through the prompt") {
		t.Errorf("%+v", f)
	}
}

type modelFunc func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error)

func (f modelFunc) Generate(ctx context.Context, r *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	return f(ctx, r, stream)
}

func TestAnUnreachableServerIsCalledOnce(t *testing.T) {
	m := capableModel()
	m.err = func(*model.Request, bool) error {
		return &model.Error{Kind: model.NetworkError, Message: "refused"}
	}
	found := probe.Run(t.Context(), target(m), probe.Options{})
	if len(m.requests) != 1 || len(found) != 6 {
		t.Errorf("%d requests, %d findings", len(m.requests), len(found))
	}
}

func TestChecksRunConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := capableModel()
		m.delay = time.Second
		began := time.Now()
		found := probe.Run(t.Context(), target(m), probe.Options{})
		if took := time.Since(began); took != 3*time.Second { // the text check, then the two turns of the tools check
			t.Errorf("took %s", took)
		}
		if found[0].Latency != time.Second || found[1].FirstToken != time.Second || found[2].Latency != 2*time.Second {
			t.Errorf("latencies %s, %s, %s", found[0].Latency, found[1].FirstToken, found[2].Latency)
		}
	})
}

func TestATimeoutIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := capableModel()
		m.delay = time.Minute
		f := probe.Run(t.Context(), target(m), probe.Options{Timeout: 5 * time.Second})[0]
		want := "timeout: no reply within 5s"
		if f.Verdict != probe.No || f.Error.Error() != want || f.Latency != 5*time.Second || f.Attempts != 1 {
			t.Errorf("%+v", f)
		}
	})
}

func TestACancelledPingEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := capableModel()
		m.delay = time.Second
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(1500*time.Millisecond, cancel)
		began := time.Now()
		found := probe.Run(ctx, target(m), probe.Options{Timeout: time.Hour})
		if took := time.Since(began); took != 1500*time.Millisecond {
			t.Errorf("took %s", took)
		}
		if found[0].Verdict != probe.Yes || found[1].Verdict != probe.Skipped || found[2].Error != nil {
			t.Errorf("%+v", found)
		}
	})
}

// The worst-case cost of a ping is below one cent, for any price and any reply.
func TestAPingStaysBelowACent(t *testing.T) {
	for _, price := range []model.Cost{{Input: 0.1, Output: 0.4}, {Input: 5, Output: 25}, {Input: 15, Output: 75}, {Input: 30, Output: 180}, {Input: 5000, Output: 5000}} {
		m := capableModel()
		m.schema = "no" // so that schema makes two calls
		greedy := modelFunc(func(ctx context.Context, r *model.Request, stream func(model.Delta)) (*model.Reply, error) {
			reply, err := m.Generate(ctx, r, stream)
			if err == nil {
				reply.Usage = model.Tokens{Input: 2*r.Estimate() + 100, Output: r.Params.MaxOutputTokens}
			}
			return reply, err
		})
		tg := target(greedy)
		tg.Cost = &price
		spent := 0.0
		for _, f := range probe.Run(t.Context(), tg, probe.Options{}) {
			spent += f.Cost
		}
		if spent >= 0.01 {
			t.Errorf("$%v/$%v: a ping cost $%.4f", price.Input, price.Output, spent)
		}
		for _, r := range m.requests {
			if n := r.Params.MaxOutputTokens; n < 16 || n > 512 || !r.Bounded || !r.Metered {
				t.Errorf("$%v: requested %d tokens, bounded %v, metered %v", price.Output, n, r.Bounded, r.Metered)
			}
		}
	}
}

// A reply that was lost may have been billed.
func TestALostReplyIsCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := capableModel()
		m.schema = "no" // so that schema makes two calls
		m.tools = func(int) model.Reply { return calling(`{"name":"alpha"}`) }
		spent := make(chan int, 16)
		lossy := modelFunc(func(ctx context.Context, r *model.Request, stream func(model.Delta)) (*model.Reply, error) {
			spent <- r.Params.MaxOutputTokens
			if stream != nil {
				return nil, &model.Error{Kind: model.Truncated, Message: "cut"}
			}
			time.Sleep(time.Second)
			reply, err := m.Generate(ctx, r, stream)
			reply.Usage = model.Tokens{Output: r.Params.MaxOutputTokens}
			return reply, err
		})
		tg := target(lossy)
		tg.Cost = &model.Cost{Output: 25}
		probe.Run(t.Context(), tg, probe.Options{})
		close(spent)
		tokens := 0
		for n := range spent {
			tokens += n
		}
		if cost := tg.Cost.Of(model.Tokens{Output: tokens}); cost >= 0.01 {
			t.Errorf("a ping may have cost $%.4f", cost)
		}
	})
}

// A ping fails fast: it does not wait until an open circuit breaker allows another
// attempt.
func TestAPingFailsFastOnAnOpenBreaker(t *testing.T) {
	m := capableModel()
	probe.Run(t.Context(), target(m), probe.Options{})
	for _, r := range m.requests {
		if !r.Fallback {
			t.Errorf("call %d waits for the breaker", r.Call)
		}
	}
}

func TestNoCallExceedsTheBudget(t *testing.T) {
	m := capableModel()
	tg := target(m)
	tg.Cost = &model.Cost{Input: 5000, Output: 5000}
	found := probe.Run(t.Context(), tg, probe.Options{})
	if len(m.requests) != 0 || found[0].Verdict != probe.Skipped || !strings.Contains(found[0].Note, "one cent") {
		t.Errorf("%d requests: %+v", len(m.requests), found[0])
	}
}

func TestTheSpecsOwnParametersAreUsed(t *testing.T) {
	m := capableModel()
	tg := target(m)
	zero := 0.0
	tg.Params = model.Params{Model: "m", Temperature: &zero, MaxOutputTokens: 64}
	probe.Run(t.Context(), tg, probe.Options{})
	for _, r := range m.requests {
		if diff := cmp.Diff(tg.Params, r.Params); diff != "" {
			t.Error(diff)
		}
	}
}

func TestProgressIsReported(t *testing.T) {
	var mu sync.Mutex
	began, ended := map[probe.Check]int{}, map[probe.Check]int{}
	probe.Run(t.Context(), target(capableModel()), probe.Options{
		Started:  func(c probe.Check) { mu.Lock(); began[c]++; mu.Unlock() },
		Finished: func(f probe.Finding) { mu.Lock(); ended[f.Check]++; mu.Unlock() },
	})
	want := map[probe.Check]int{probe.Text: 1, probe.Stream: 1, probe.Tools: 1, probe.Schema: 1}
	if diff := cmp.Diff(want, began) + cmp.Diff(want, ended); diff != "" {
		t.Error(diff)
	}
}
