package runtime_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// budgetRuns returns the number of random runs: PEX_BUDGET_RUNS, else 10,000, or a tenth
// of that with -short or the race detector.
func budgetRuns(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("PEX_BUDGET_RUNS")); err == nil {
		return n
	}
	if testing.Short() || raceDetector {
		return 1_000
	}
	return 10_000
}

// bill is the provider's record of its charges under one set of limits. The engine does
// not see it.
type bill struct {
	limits engine.Limits
	mu     sync.Mutex
	tokens int
	cost   float64
}

// charge adds a call to the bills of all limits that apply to it.
func charge(bills []*bill, price *model.Cost, used model.Tokens) {
	for _, b := range bills {
		b.mu.Lock()
		b.tokens += used.Total()
		b.cost += charged(price, used)
		b.mu.Unlock()
	}
}

// charged computes the price of a call independently of model.Cost.
func charged(c *model.Cost, t model.Tokens) float64 {
	in, out, cached, write := c.Input, c.Output, c.CachedInput, c.CacheWrite
	if a := c.Above; a != nil && t.Input > a.Tokens {
		in, out, cached, write = a.Input, a.Output, a.CachedInput, a.CacheWrite
	}
	if cached == 0 {
		cached = in
	}
	if write == 0 {
		write = in
	}
	fresh := t.Input - t.Cached - t.CacheWrite
	return float64(fresh)/1e6*in + float64(t.Cached)/1e6*cached + float64(t.CacheWrite)/1e6*write + float64(t.Output)/1e6*out
}

// vendor is a model that randomly replies, fails, is slow or crashes the process, and
// charges for its work.
type vendor struct {
	w     *budgetWorld
	price *model.Cost
	bills []*bill
}

// slow is one call of a vendor, with its delay.
type slow struct {
	*vendor
	delay time.Duration
}

func (s slow) Delay() time.Duration { return s.delay }

func (v *vendor) Choose(req *model.Request) model.Model {
	return slow{v, time.Duration(len(req.Messages[0].Text.String())%50) * time.Second}
}

func (v *vendor) Generate(ctx context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	rnd := v.w.chance(req.Key)
	used := v.usage(rnd, req)
	switch n := rnd.IntN(100); {
	case n < 6: // rejected, so not charged
		return nil, &model.Error{Kind: pick(rnd, model.RateLimited, model.Overloaded, model.BadRequest, model.ContextTooLong), Message: "no", Attempts: 1 + rnd.IntN(2)}
	case n < 8:
		return nil, &model.Error{Kind: model.NetworkError, NotSent: true, Message: "no such host"}
	case n < 20: // answered, but the reply was lost
		charge(v.bills, v.price, used)
		return nil, &model.Error{Kind: pick(rnd, model.Truncated, model.NetworkError, model.CallTimeout, model.BadReply), Message: "lost"}
	}
	charge(v.bills, v.price, used)
	if v.w.dies(rnd) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &model.Reply{Text: "x", Stop: model.EndTurn, Usage: used}, nil
}

// usage returns a random usage within what the request allows: one input token per two
// bytes, and the requested output.
func (v *vendor) usage(rnd *rand.Rand, req *model.Request) model.Tokens {
	size := 0
	for _, m := range req.Messages {
		size += m.Text.Len()
	}
	all := func(n int) int {
		if rnd.IntN(3) > 0 {
			return n
		}
		return rnd.IntN(n + 1)
	}
	t := model.Tokens{Input: all(size / 2), Output: all(req.Params.MaxOutputTokens)}
	if rnd.IntN(2) == 0 {
		t.Cached = all(t.Input)
		t.CacheWrite = all(t.Input - t.Cached)
	}
	return t
}

func pick[T any](rnd *rand.Rand, of ...T) T { return of[rnd.IntN(len(of))] }

// budgetWorld is a random program with its vendors and crashes.
type budgetWorld struct {
	seed    uint64
	rnd     *rand.Rand // used only while the program is generated
	main    *engine.Program
	host    engine.Host
	bills   []*bill
	mu      sync.Mutex
	asked   map[string]uint64
	crashes int
	raises  int // number of times the limits are raised
	samples int // percentage of calls made by a tool instead of a node
	kill    context.CancelFunc
}

// chance returns the random numbers of one call, independent of concurrent calls.
func (w *budgetWorld) chance(key string) *rand.Rand {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[key]++
	h := fnv.New64a()
	fmt.Fprint(h, key, w.asked[key])
	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

func (w *budgetWorld) dies(rnd *rand.Rand) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.crashes == 0 || rnd.IntN(4) > 0 {
		return false
	}
	w.crashes--
	w.kill()
	return true
}

func newBudgetWorld(seed uint64) *budgetWorld {
	w := &budgetWorld{seed: seed, rnd: rand.New(rand.NewPCG(seed, 1)), asked: map[string]uint64{}}
	if w.rnd.IntN(3) == 0 {
		w.crashes = 1 + w.rnd.IntN(3)
	}
	w.raises = w.rnd.IntN(3)
	w.samples = pick(w.rnd, 0, 10, 100)
	nested := map[string]engine.Host{}
	w.main, w.host = w.agent("main", 2, nil, nested)
	w.host.Nested = func(p *engine.Program, _ map[string]any) (engine.Host, error) {
		h := nested[p.Name]
		h.Nested = w.host.Nested
		return h, nil
	}
	return w
}

// agent generates a program with its own limits, LLMs and branches of calls. depth is the
// maximum depth of nested agents.
func (w *budgetWorld) agent(name string, depth int, outer []*bill, nested map[string]engine.Host) (*engine.Program, engine.Host) {
	b := &bill{limits: w.limits(len(outer) == 0)}
	bills := append([]*bill{b}, outer...)
	w.bills = append(w.bills, b)
	p := &engine.Program{Limits: b.limits}
	h := engine.Host{Models: map[string]model.Model{}}
	for i := range 1 + w.rnd.IntN(3) {
		m := engine.ModelSpec{Name: fmt.Sprint("m", i), Cost: w.price(), Retry: retry.Policy{MaxAttempts: w.rnd.IntN(4)}}
		m.Params.MaxOutputTokens = pick(w.rnd, 0, 0, 20, 64, 300, 3000)
		if i > 0 {
			m.Fallback = []string{"m0"}
		}
		p.Models = append(p.Models, m)
		h.Models[m.Name] = &vendor{w, m.Cost, bills}
	}
	server, library := w.server(p.Models), w.library(p.Models)
	h.Tools = []tool.Binding{server, library}
	h.Embedders = map[string]model.Embedder{}
	for name, m := range h.Models {
		h.Embedders[name] = m.(*vendor)
	}
	var branches [][]func(engine.Scope, string) error
	var agents []*engine.Program
	for i := range 1 + w.rnd.IntN(8) {
		var calls []func(engine.Scope, string) error
		for range 1 + w.rnd.IntN(pick(w.rnd, 3, 12)) {
			if w.rnd.IntN(100) < w.samples {
				calls = append(calls, w.sampled(pick(w.rnd, server.Spec.Name+"__ask", library.Spec.Name)))
				continue
			}
			calls = append(calls, w.call(p))
		}
		if depth > 0 && w.rnd.IntN(4) == 0 {
			child, host := w.agent(fmt.Sprint(name, ".", i), depth-1, bills, nested)
			nested[child.Name], agents = host, append(agents, child)
			calls = append(calls, func(s engine.Scope, at string) error {
				_, err := s.Agent(at, child, map[string]any{"question": "q"})
				return err
			})
		}
		branches = append(branches, calls)
	}
	limits, models := p.Limits, p.Models
	p = program(map[string]nodeFunc{"a": func(s engine.Scope) error { return each(s, branches) }})
	p.Name, p.Limits, p.Models, p.Agents = name, limits, models, agents
	last := w.call(p)
	p.Nodes["finalizer"] = finalizer{func(s engine.Scope) error { return last(s, "last") }}
	return p, h
}

// each runs branches in parallel and the calls of a branch in sequence.
func each(s engine.Scope, branches [][]func(engine.Scope, string) error) error {
	return s.Parallel(len(branches), func(i int) string { return fmt.Sprint("b", i) }, func(i int, s engine.Scope) error {
		for n, call := range branches[i] {
			if err := call(s, fmt.Sprint("c", n)); err != nil && model.AsError(err) == nil && !engine.TimedOut(err) {
				return err
			}
		}
		return nil
	})
}

// call returns a function that calls an LLM of p, sometimes with a short timeout.
func (w *budgetWorld) call(p *engine.Program) func(engine.Scope, string) error {
	c := model.Call{
		Role: "executor", LLM: p.Models[w.rnd.IntN(len(p.Models))].Name,
		Messages: []model.Message{{Role: model.User, Text: model.Text{strings.Repeat("w", w.rnd.IntN(pick(w.rnd, 20, 500, 2000, 8_000)))}}},
	}
	limit := pick(w.rnd, 0, 0, 0, 20*time.Second)
	return func(s engine.Scope, at string) error {
		return s.Timeout(at+".time", limit, func(s engine.Scope) error {
			_, err := s.Model(at, c)
			return err
		})
	}
}

func (w *budgetWorld) limits(some bool) engine.Limits {
	l := engine.Limits{MaxSteps: 20, MaxReplans: 10}
	which := w.rnd.IntN(4)
	if some {
		which = 1 + w.rnd.IntN(3)
	}
	if which&1 != 0 {
		l.MaxTokens = 1 + w.rnd.IntN(pick(w.rnd, 500, 20_000, 200_000))
		l.ReserveTokens = pick(w.rnd, 0, 1, 1, l.MaxTokens/2)
	}
	if which&2 != 0 {
		l.MaxCost = w.rnd.Float64() * pick(w.rnd, 0.001, 0.05, 0.5)
	}
	return l
}

// price returns a random price: with free input or output, a cheaper or more expensive
// cache, and a surcharge for long requests.
func (w *budgetWorld) price() *model.Cost {
	usd := func() float64 { return pick(w.rnd, 0, 0.05, 1, 3.3, 15) * w.rnd.Float64() }
	c := &model.Cost{Input: usd(), Output: 5 * usd(), CachedInput: usd(), CacheWrite: 2 * usd(), MaxOutput: pick(w.rnd, 0, 0, 2000, 5000, 100_000)}
	if w.rnd.IntN(3) == 0 {
		c.Above = &model.CostAbove{Tokens: w.rnd.IntN(3000), Input: usd(), Output: 5 * usd(), CachedInput: usd(), CacheWrite: usd()}
	}
	return c
}

// raise returns higher limits for a run that was stopped by one.
func (w *budgetWorld) raise(res *engine.Result) *runtime.LimitExtension {
	w.raises--
	l := &w.bills[0].limits
	l.MaxTokens, l.MaxCost = l.MaxTokens*5/4, l.MaxCost*5/4
	return &runtime.LimitExtension{Limits: *l, Spent: res.Usage.ByModel, Lost: res.LostCharges}
}

// run resumes the run until no session crashes and no limit is raised.
func (w *budgetWorld) run(t *testing.T) (res *engine.Result, sessions int) {
	o := runtime.Options{Virtual: true, Journal: &journal.Memory{RoundTrip: w.crashes > 0}}
	for sessions = 1; ; sessions++ {
		ctx, kill := context.WithCancel(t.Context())
		w.mu.Lock()
		w.kill = kill
		w.mu.Unlock()
		res = execute(ctx, w.main, engine.Input{RunID: "r", Parameters: map[string]any{"question": "q"}}, w.host, o)
		kill()
		switch o.Extension = nil; {
		case res.StopReason.Code == stop.Suspended:
		case w.raises > 0 && res.StopReason.Extendable():
			o.Extension = w.raise(res)
		default:
			return res, sessions
		}
	}
}

// over returns how the bill exceeds its limits, or "".
func (b *bill) over() string {
	const dust = 1e-6 // USD
	b.mu.Lock()       // a call of a crashed session may still be running
	defer b.mu.Unlock()
	switch l := b.limits; {
	case l.MaxTokens > 0 && b.tokens > l.MaxTokens:
		return fmt.Sprintf("%d tokens of %d", b.tokens, l.MaxTokens)
	case l.MaxCost > 0 && b.cost > l.MaxCost+dust:
		return fmt.Sprintf("$%.6f of $%.6f", b.cost, l.MaxCost)
	}
	return ""
}

// half reports whether more than half of a limit is used.
func (b *bill) half() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.limits
	return l.MaxTokens > 0 && b.tokens*2 > l.MaxTokens || l.MaxCost > 0 && b.cost*2 > l.MaxCost
}

// TestProviderNeverChargesMoreThanTheBudget tests the guarantee of limits.max_tokens and
// limits.max_cost: it holds with concurrent calls, failures, fallbacks, interruptions,
// crashes with calls in flight, any number of resumes and raises, and for samples and
// embeddings of tools.
func TestProviderNeverChargesMoreThanTheBudget(t *testing.T) {
	stops, used, resumed := map[stop.Code]int{}, 0, 0
	runs := budgetRuns(t)
	for seed := range runs {
		w := newBudgetWorld(uint64(seed))
		res, sessions := w.run(t)
		for i, b := range w.bills {
			if over := b.over(); over != "" {
				t.Errorf("seed %d, agent %d: %s in %d sessions, which ended %s", seed, i, over, sessions, res.StopReason.Code)
			}
		}
		stops[res.StopReason.Code]++
		if res.StopReason.Code == stop.Internal {
			t.Errorf("seed %d: %s", seed, res.Error)
		}
		if w.bills[0].half() {
			used++
		}
		if sessions > 1 {
			resumed++
		}
		if t.Failed() && seed > 200 {
			break
		}
	}
	t.Logf("%d runs: ended %v, %d used more than half, %d were resumed", runs, stops, used, resumed)
	if runs >= 1000 && (used < runs/10 || resumed < runs/20 || stops[stop.Answered] < runs/20 || stops[stop.BudgetTokens]+stops[stop.BudgetCost] < runs/5) {
		t.Error("too few runs come near their limits or exceed them")
	}
}
