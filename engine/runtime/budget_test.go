package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
)

// meter is a model that records its output limits and uses a share of them.
type meter struct {
	share   float64 // of what a call may use at most
	allowed []int
	delay   time.Duration
}

func (m *meter) Choose(req *model.Request) model.Model {
	m.allowed = append(m.allowed, req.Params.MaxOutputTokens)
	return answer{model.Tokens{
		Input:  int(m.share * float64(size(req)/2)),
		Output: int(m.share * float64(req.Params.MaxOutputTokens)),
	}, m.delay * time.Duration(1+len(m.allowed)%3)}
}

func (m *meter) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	return m.Choose(req).Generate(ctx, req, stream)
}

func size(req *model.Request) int {
	n := 0
	for _, m := range req.Messages {
		n += m.Text.Len()
	}
	return n
}

type answer struct {
	usage model.Tokens
	delay time.Duration
}

func (a answer) Delay() time.Duration { return a.delay }

func (a answer) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	return &model.Reply{Text: "x", Stop: model.EndTurn, Usage: a.usage}, nil
}

// asks returns a node that calls the model n times in each of some branches.
func asks(branches, n int) nodeFunc {
	return func(s engine.Scope) error {
		call := model.Call{Role: "executor", LLM: "main", Messages: []model.Message{{Role: model.User, Text: model.Text{strings.Repeat("word ", 80)}}}}
		return s.Parallel(branches, func(i int) string { return fmt.Sprint("b", i) }, func(_ int, s engine.Scope) error {
			for i := range n {
				if _, err := s.Model(fmt.Sprint("model.", i), call); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func spends(l engine.Limits, m *meter, params model.Params, cost *model.Cost, node nodeFunc) *engine.Result {
	p := program(map[string]nodeFunc{"a": node})
	p.Limits = l
	p.Models = []engine.ModelSpec{{Name: "main", Params: params, Cost: cost}}
	return runs(p, engine.Host{Models: map[string]model.Model{"main": m}})
}

func TestBudgetsAreNeverExceeded(t *testing.T) {
	price := &model.Cost{Input: 1, Output: 5}
	for _, branches := range []int{1, 2, 7} {
		for _, share := range []float64{0.1, 0.6, 1} {
			for _, max := range []int{0, 50, 500} {
				t.Run(fmt.Sprintf("%d branches use %v of %d", branches, share, max), func(t *testing.T) {
					m := &meter{share: share, delay: time.Second}
					l := engine.Limits{MaxTokens: 20_000}
					res := spends(l, m, model.Params{MaxOutputTokens: max}, nil, asks(branches, 1000))
					if res.StopReason.Code != stop.BudgetTokens || res.Usage.Total() > 18_000 || res.Usage.Total() == 0 {
						t.Errorf("tokens: %+v after %d", res.StopReason, res.Usage.Total())
					}
					res = spends(engine.Limits{MaxCost: 0.05}, m, model.Params{MaxOutputTokens: max}, price, asks(branches, 1000))
					if res.StopReason.Code != stop.BudgetCost || res.Usage.CostUSD > 0.04 || res.Usage.CostUSD == 0 {
						t.Errorf("cost: %+v after %v", res.StopReason, res.Usage.CostUSD)
					}
				})
			}
		}
	}
}

func TestOutputLimitIsTheReservation(t *testing.T) {
	tests := []struct {
		name   string
		limits engine.Limits
		params model.Params
		want   int
	}{
		{"no budget sends no bound", engine.Limits{}, model.Params{}, 0},
		{"no budget keeps the author's bound", engine.Limits{}, model.Params{MaxOutputTokens: 7}, 7},
		{"the author's bound", engine.Limits{MaxTokens: 100_000}, model.Params{MaxOutputTokens: 300}, 300},
		{"4096 without one", engine.Limits{MaxTokens: 100_000}, model.Params{}, 4096},
		{"what is left without one", engine.Limits{MaxTokens: 2000}, model.Params{}, 2000 - 400 - 212},
		{"what the reserve leaves", engine.Limits{MaxTokens: 2000, ReserveTokens: 1000}, model.Params{}, 2000 - 1000 - 212},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &meter{}
			spends(tt.limits, m, tt.params, nil, asks(1, 1))
			if len(m.allowed) != 1 || m.allowed[0] != tt.want {
				t.Errorf("allowed %v, want %d", m.allowed, tt.want)
			}
		})
	}
}

func TestModelWithKnownMaximumGetsAShareOfTheBudget(t *testing.T) {
	price := func(most int) *model.Cost { return &model.Cost{Output: 10, MaxOutput: most} }
	tests := []struct {
		name     string
		limits   engine.Limits
		price    *model.Cost
		branches int
		want     []int
	}{
		{"the model's own bound", engine.Limits{MaxCost: 10}, price(128_000), 1, []int{128_000}},
		{"a shorter one", engine.Limits{MaxCost: 10}, price(2000), 1, []int{2000}},
		{"a quarter of the money", engine.Limits{MaxCost: 1}, price(128_000), 1, []int{20_000}},
		{"of the tokens", engine.Limits{MaxTokens: 102_212}, price(128_000), 1, []int{25_000}},
		{"of what others leave", engine.Limits{MaxCost: 1}, price(128_000), 3, []int{20_000, 15_000, 11_250}},
		{"no less than 4096", engine.Limits{MaxCost: 0.125}, price(128_000), 2, []int{4096, 4096}},
		{"all that is left", engine.Limits{MaxCost: 0.0125}, price(128_000), 1, []int{1000}},
		{"4096 where its length is not known", engine.Limits{MaxCost: 10}, price(0), 1, []int{4096}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &meter{delay: time.Second}
			spends(tt.limits, m, model.Params{}, tt.price, asks(tt.branches, 1))
			if !slices.Equal(m.allowed, tt.want) {
				t.Errorf("allowed %v, want %v", m.allowed, tt.want)
			}
		})
	}
}

func TestTooSmallBudgetMakesNoCall(t *testing.T) {
	m := &meter{}
	res := spends(engine.Limits{MaxTokens: 100}, m, model.Params{}, nil, asks(3, 1))
	if res.StopReason.Code != stop.BudgetTokens || len(m.allowed) != 0 || !strings.Contains(res.Response, "limits.max_tokens") {
		t.Errorf("%+v, asked %v: %s", res.StopReason, m.allowed, res.Response)
	}
}
