package runtime_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/stop"
)

// failingModel is a model whose first calls fail. It records the keys, metering and
// earlier attempts of its requests.
type failingModel struct {
	fails   []*model.Error
	keys    []string
	metered []bool
	made    []int
}

func (b *failingModel) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	b.keys, b.metered, b.made = append(b.keys, req.Key), append(b.metered, req.Metered), append(b.made, req.PriorAttempts)
	if n := len(b.keys); n <= len(b.fails) {
		return nil, b.fails[n-1]
	}
	return &model.Reply{Text: "x", Stop: model.EndTurn, Usage: model.Tokens{Input: 1, Output: 1}}, nil
}

func fails(kind model.ErrorKind) *model.Error {
	return &model.Error{Kind: kind, Message: "no", Attempts: 1}
}

func TestLostRepliesAreRetriedUnderABudget(t *testing.T) {
	tests := []struct {
		name   string
		limits engine.Limits
		fails  []*model.Error
		calls  int
		code   stop.Code
	}{
		{"a broken stream", engine.Limits{MaxTokens: 100_000}, []*model.Error{fails(model.Truncated)}, 2, stop.Answered},
		{"twice", engine.Limits{MaxTokens: 100_000}, []*model.Error{fails(model.Truncated), fails(model.NetworkError)}, 3, stop.Answered},
		{"too often", engine.Limits{MaxTokens: 100_000}, []*model.Error{fails(model.Truncated), fails(model.Truncated), fails(model.Truncated)}, 3, stop.ProviderError},
		{"attempts that the model made count", engine.Limits{MaxTokens: 100_000}, []*model.Error{{Kind: model.Truncated, Message: "no", Attempts: 3}}, 1, stop.ProviderError},
		{"what will not pass", engine.Limits{MaxTokens: 100_000}, []*model.Error{fails(model.BadReply)}, 1, stop.ProviderError},
		{"what the model has repeated", engine.Limits{MaxTokens: 100_000}, []*model.Error{fails(model.Overloaded)}, 1, stop.ProviderError},
		{"what was never sent", engine.Limits{MaxTokens: 100_000}, []*model.Error{{Kind: model.NetworkError, NotSent: true, Message: "no"}}, 1, stop.ProviderError},
		{"no budget", engine.Limits{}, []*model.Error{fails(model.Truncated)}, 1, stop.ProviderError},
		{"no room for another", engine.Limits{MaxTokens: 6000}, []*model.Error{fails(model.Truncated)}, 1, stop.BudgetTokens},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &failingModel{fails: tt.fails}
			p := program(map[string]nodeFunc{"a": asks(1, 1)})
			p.Limits = tt.limits
			p.Models = []engine.ModelSpec{{Name: "main", Retry: retry.Policy{MaxAttempts: 3}, Params: model.Params{MaxOutputTokens: 3000}}}
			res := runs(p, engine.Host{Models: map[string]model.Model{"main": m}})
			if len(m.keys) != tt.calls || res.StopReason.Code != tt.code {
				t.Errorf("%d calls, %+v", len(m.keys), res.StopReason)
			}
			if slices.Contains(m.metered, tt.limits.MaxTokens == 0) {
				t.Errorf("metered: %v", m.metered)
			}
			for _, key := range m.keys {
				if key != "r/b0/model.0" {
					t.Errorf("idempotency key %s", key)
				}
			}
		})
	}
}

// runWithLostReply runs three calls under a budget. The first reply is lost.
func runWithLostReply(t *testing.T, m *failingModel, o runtime.Options) (*engine.Program, *journal.Memory, *engine.Result) {
	t.Helper()
	p := program(map[string]nodeFunc{"a": asks(1, 3)})
	p.Limits = engine.Limits{MaxTokens: 100_000}
	p.Models = []engine.ModelSpec{{Name: "main", Retry: retry.Policy{MaxAttempts: 4, InitialDelay: time.Second}, Params: model.Params{MaxOutputTokens: 3000}}}
	j := &journal.Memory{RoundTrip: true}
	o.Virtual, o.Journal = true, j
	res := execute(t.Context(), p, engine.Input{RunID: "r"}, engine.Host{Models: map[string]model.Model{"main": m}}, o)
	if res.StopReason.Code != stop.Answered {
		t.Fatalf("%+v", res.StopReason)
	}
	return p, j, res
}

func TestAttemptsOfModelAndRunAreCountedTogether(t *testing.T) {
	m := &failingModel{fails: []*model.Error{{Kind: model.Truncated, Attempts: 2}, fails(model.Truncated)}}
	runWithLostReply(t, m, runtime.Options{})
	if !slices.Equal(m.made, []int{0, 2, 3, 0, 0}) {
		t.Errorf("attempts before each call: %v", m.made)
	}
}

func TestRetryWaitsForRetryAfter(t *testing.T) {
	m := &failingModel{fails: []*model.Error{{Kind: model.Truncated, RetryAfter: 20 * time.Second, Attempts: 1}, fails(model.Truncated)}}
	if _, _, res := runWithLostReply(t, m, runtime.Options{}); res.DurationMS != 22_000 {
		t.Errorf("took %d ms", res.DurationMS)
	}
}

func TestNoRetryBeyondMaxDelay(t *testing.T) {
	m := &failingModel{fails: []*model.Error{{Kind: model.Truncated, Message: "cut", RetryAfter: 31 * time.Second, Attempts: 1}}}
	p := program(map[string]nodeFunc{"a": func(s engine.Scope) error { _, err := s.Model("model", model.Call{LLM: "main"}); return err }})
	p.Models = []engine.ModelSpec{{Name: "main", Retry: retry.Policy{MaxAttempts: 3}}}
	p.Limits.MaxTokens = 100_000
	res := execute(t.Context(), p, engine.Input{RunID: "r"}, engine.Host{Models: map[string]model.Model{"main": m}}, runtime.Options{Virtual: true})
	const want = "llm main: truncated: cut; the server asks to wait 31s, longer than retry.max_delay (30s)"
	if len(m.made) != 1 || res.StopReason.Code != stop.ProviderError || !strings.Contains(res.Error, want) {
		t.Errorf("%d calls, %+v", len(m.made), res.StopReason)
	}
}

// requestCounter is a tracer that counts requests.
type requestCounter int

func (a *requestCounter) Trace(_ *engine.Program, w runtime.TraceEvent) {
	if _, ok := w.(runtime.Requested); ok {
		*a++
	}
}

func TestRetriesAreOneRequestForTracers(t *testing.T) {
	var n requestCounter
	runWithLostReply(t, &failingModel{fails: []*model.Error{fails(model.Truncated)}}, runtime.Options{Tracer: &n})
	if n != 3 {
		t.Errorf("%d requests", n)
	}
}

func TestForkWithoutBudgetReusesRetries(t *testing.T) {
	m := &failingModel{fails: []*model.Error{fails(model.Truncated)}}
	p, j, _ := runWithLostReply(t, m, runtime.Options{})
	p.Limits = engine.Limits{}
	last := slices.IndexFunc(j.Records, func(r journal.Record) bool { return r.Path == "b0/model.2" })
	res := execute(t.Context(), p, engine.Input{RunID: "f"}, engine.Host{Models: map[string]model.Model{"main": m}}, runtime.Options{
		Virtual: true, Journal: &journal.Memory{RoundTrip: true},
		Recorded: replay.New(j.Records, replay.Options{Until: j.Records[last].Seq}),
	})
	if res.StopReason.Code != stop.Answered || len(m.keys) != 5 {
		t.Errorf("%d calls, %+v", len(m.keys), res.StopReason)
	}
}

func TestCallOfACrashedSessionIsChargedAndRepeated(t *testing.T) {
	for _, tt := range []struct {
		name  string
		max   int
		calls int
		code  stop.Code
	}{
		{"room for two", 20_000, 2, stop.Answered},
		{"room for one", 6000, 1, stop.BudgetTokens},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, kill := context.WithCancel(t.Context())
			m := &failingModel{}
			hangs := crashingModel{m, kill}
			p := program(map[string]nodeFunc{"a": asks(1, 1)})
			p.Limits = engine.Limits{MaxTokens: tt.max}
			p.Models = []engine.ModelSpec{{Name: "main", Params: model.Params{MaxOutputTokens: 3000}}}
			h := engine.Host{Models: map[string]model.Model{"main": hangs}}
			j := &journal.Memory{RoundTrip: true}
			in := engine.Input{RunID: "r"}
			if res := execute(ctx, p, in, h, runtime.Options{Virtual: true, Journal: j}); res.StopReason.Code != stop.Suspended {
				t.Fatalf("%+v", res.StopReason)
			}
			for range 2 { // the third session replays the second
				res := execute(t.Context(), p, in, engine.Host{Models: map[string]model.Model{"main": m}}, runtime.Options{Virtual: true, Journal: j})
				if len(m.keys) != tt.calls || res.StopReason.Code != tt.code {
					t.Errorf("%d calls, %+v", len(m.keys), res.StopReason)
				}
			}
			if again := strings.Count(paths(j), "b0/model.0.again.1"); again != min(tt.calls-1, 1)*2 {
				t.Errorf("%d records of another attempt: %s", again, paths(j))
			}
		})
	}
}

// crashingModel is a model whose call crashes the process.
type crashingModel struct {
	*failingModel
	kill context.CancelFunc
}

func (h crashingModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	_, _ = h.failingModel.Generate(ctx, req, stream)
	h.kill()
	<-ctx.Done()
	return nil, ctx.Err()
}

func paths(j *journal.Memory) string {
	var out []string
	for _, r := range j.Records {
		out = append(out, r.Path)
	}
	return strings.Join(out, " ")
}

func TestMaxOutputTokensAppliesUnderABudget(t *testing.T) {
	m := &meter{delay: time.Second}
	spends(engine.Limits{MaxTokens: 10_000}, m, model.Params{MaxOutputTokens: 7}, nil, asks(1, 1))
	if !slices.Equal(m.allowed, []int{7}) {
		t.Errorf("allowed %v", m.allowed)
	}
}
