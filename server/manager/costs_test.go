package manager_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/manager"
)

// pricedModel replies with 64 tokens.
type pricedModel struct{ gatedModel }

func (m pricedModel) Generate(ctx context.Context, r *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	reply, err := m.gatedModel.Generate(ctx, r, stream)
	if err == nil {
		reply.Usage = model.Tokens{Output: 64}
	}
	return reply, err
}

// costly is a world whose runs cost 2 USD each.
func costly(t *testing.T, n node, gate <-chan struct{}) *world {
	w := newWorld(t, n)
	w.model = pricedModel{gatedModel{gate}}
	w.change = func(p *engine.Program) {
		p.Models[0].Cost = &model.Cost{Output: 2e6 / 64, MaxOutput: 64}
	}
	return w
}

// limited returns a request for a run with limits.max_cost.
func (w *world) limited(id string, most float64) runs.NewRun {
	n := w.request(id)
	n.Program.Limits.MaxCost = most
	n.Program.Source = json.RawMessage(`{"max_cost":` + usd(most) + `}`)
	n.Input.Agent = "agent"
	return n
}

func usd(n float64) string {
	b, _ := json.Marshal(n)
	return string(b)
}

func (w *world) usage(m *manager.Manager, spent, reserved float64) {
	w.t.Helper()
	u, err := m.Usage(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if math.Abs(u.Spent-spent) > 1e-9 || math.Abs(u.Reserved-reserved) > 1e-9 {
		w.t.Errorf("spent %v, reserved %v; want %v and %v", u.Spent, u.Reserved, spent, reserved)
	}
}

// A run reserves the most that it may cost. At its end, only its cost counts, also after a
// restart.
func TestRunsReserveWhatTheyMayCost(t *testing.T) {
	gate := make(chan struct{})
	w := costly(t, greets, gate)
	m := w.open(manager.Options{CostPerDay: 10})
	start := func(id string, most float64) error {
		_, err := m.Start(t.Context(), w.limited(id, most), "")
		return err
	}
	if err := start("r-1", 6); err != nil {
		t.Fatal(err)
	}
	w.usage(m, 0, 6)
	err := start("r-2", 5)
	over, ok := errors.AsType[*manager.QuotaError](err)
	if !ok || over.Usage.Left() != 4 || over.RetryAfter() > time.Minute || over.RetryAfter() <= 0 {
		t.Fatalf("%v %+v", err, over)
	}
	if want := "the run may cost up to $5.0000, and $4.0000 of the $10.0000 for today is left ($6.0000 is reserved by runs that have not ended)"; err.Error() != want {
		t.Error(err)
	}
	if _, err := w.service().Read("r-2"); !errors.As(err, new(*runs.NotFoundError)) {
		t.Error("the rejected run exists:", err)
	}
	if existed, err := m.Start(t.Context(), w.limited("r-1", 6), ""); !existed || err != nil {
		t.Error("the same request again:", err)
	}
	if err := start("r-9", 11); !errors.As(err, new(*manager.CostLimitError)) {
		t.Error(err)
	}
	if _, err := m.Start(t.Context(), w.request("r-9"), ""); !errors.As(err, new(*manager.CostLimitError)) || !strings.Contains(err.Error(), "set limits.max_cost") {
		t.Error("without limits.max_cost:", err)
	}
	close(gate)
	m.Await(t.Context(), "r-1")
	w.usage(m, 2, 0)
	if err := start("r-2", 5); err != nil {
		t.Fatal(err)
	}
	m.Await(t.Context(), "r-2")
	w.close(m)

	m = w.open(manager.Options{CostPerDay: 10})
	w.usage(m, 4, 0)
	if err := start("r-3", 6.5); !errors.As(err, new(*manager.QuotaError)) {
		t.Error(err)
	}
	w.usage(w.open(manager.Options{}), 4, 0) // without a limit, costs are shown
}

// A fork of a run of a command has no agent, but a client started it.
func TestAForkOfARunOfACommandCounts(t *testing.T) {
	gate := make(chan struct{})
	w := costly(t, greets, nil)
	m := w.open(manager.Options{CostPerDay: 10})
	for id, by := range map[string]*engine.Actor{"command": nil, "machine": {User: "ann", Host: "laptop"}, "fork": &ann, "waiting": &ann} {
		if id == "waiting" {
			w.model = pricedModel{gatedModel{gate}}
		}
		n := w.limited(id, 3)
		n.Input.Agent, n.Input.By = "", by
		if _, err := m.Start(t.Context(), n, ""); err != nil {
			t.Fatal(err)
		}
		w.model = pricedModel{}
		if id != "waiting" {
			m.Await(t.Context(), id)
		}
	}
	w.close(m)
	w.usage(w.open(manager.Options{CostPerDay: 10}), 2, 3)
	w.usage(w.open(manager.Options{}), 2, 0)
}

// A run that waits keeps what it reserved, over a restart. Nothing that a human decides is
// rejected for its cost.
func TestAWaitingRunKeepsItsReservation(t *testing.T) {
	w := costly(t, func(s engine.Scope) error {
		if _, err := s.Ask("approval", interrupt.Question{Kind: interrupt.Approval, Question: "May it?"}); err != nil {
			return err
		}
		return greets(s)
	}, nil)
	m := w.open(manager.Options{CostPerDay: 10, ParkAfter: time.Nanosecond})
	for _, id := range []string{"r-1", "r-2", "r-3"} {
		if _, err := m.Start(t.Context(), w.limited(id, 3), ""); err != nil {
			t.Fatal(err)
		}
		m.Await(t.Context(), id)
	}
	w.usage(m, 0, 9)
	w.close(m)
	m = w.open(manager.Options{CostPerDay: 10, ParkAfter: time.Nanosecond})
	if err := m.LoadUsage(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.usage(m, 0, 9)
	if err := m.Answer(t.Context(), "r-1", manager.Answer{Path: "approval", Value: "approve"}, bea); err != nil {
		t.Fatal(err)
	}
	m.Await(t.Context(), "r-1")
	w.usage(m, 2, 6)
	if err := m.Cancel(t.Context(), "r-2", bea); err != nil {
		t.Fatal(err)
	}
	for _, ok := w.cancelled(m, "r-2"); !ok; _, ok = w.cancelled(m, "r-2") {
		time.Sleep(time.Millisecond)
	}
	w.usage(m, 2, 3)
	if err := m.Remove(t.Context(), "r-3", true); err != nil {
		t.Fatal(err)
	}
	w.usage(m, 2, 0)
}

// cancelled reports whether a cancelled run has ended and is settled.
func (w *world) cancelled(m *manager.Manager, id string) (*engine.Result, bool) {
	res := w.result(m, id)
	u, err := m.Usage(w.t.Context())
	return res, res.Status == stop.RunCancelled && err == nil && u.Reserved < 6
}

// What another process ended or removed is given back when it is needed.
func TestReservationsOfOtherProcessesAreGivenBack(t *testing.T) {
	w := costly(t, approvals, nil)
	m := w.open(manager.Options{CostPerDay: 10, ParkAfter: time.Nanosecond})
	for _, id := range []string{"r-1", "r-2"} {
		if _, err := m.Start(t.Context(), w.limited(id, 5), ""); err != nil {
			t.Fatal(err)
		}
		m.Await(t.Context(), id)
	}
	other := w.service()
	if err := other.Remove("r-1"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Cancel(t.Context(), "r-2"); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Start(t.Context(), w.limited("r-3", 10), ""); err != nil {
		t.Error(err)
	}
}

// A higher limit of a resumed run is reserved, or nothing changes.
func TestAResumedRunReservesItsHigherLimit(t *testing.T) {
	w := costly(t, func(s engine.Scope) error { return errors.Join(greets(s), greets(s)) }, nil)
	m := w.open(manager.Options{CostPerDay: 10})
	if _, err := m.Start(t.Context(), w.limited("r-1", 3), ""); err != nil {
		t.Fatal(err)
	}
	if res := w.result(m, "r-1"); res.Status != stop.RunStopped || res.StopReason.Code != stop.BudgetCost {
		t.Fatalf("%+v", res.StopReason)
	}
	w.usage(m, 2, 0)
	before, err := os.ReadFile(w.service().Home().File("r-1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Resume(t.Context(), "r-1", []string{"limits.max_cost=9"}, true, ann); !errors.As(err, new(*manager.QuotaError)) {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(w.service().Home().File("r-1")); err != nil || string(after) != string(before) {
		t.Error("the rejected request changed the run:", err)
	}
	if err := m.Resume(t.Context(), "r-1", []string{"limits.max_cost=6"}, true, ann); err != nil {
		t.Fatal(err)
	}
	m.Await(t.Context(), "r-1")
}

// Requests at the same time do not reserve more than the limit.
func TestConcurrentRunsStayWithinTheLimit(t *testing.T) {
	gate := make(chan struct{})
	w := costly(t, greets, gate)
	m := w.open(manager.Options{CostPerDay: 10})
	var wg sync.WaitGroup
	var mu sync.Mutex
	started := 0
	for i := range 32 {
		wg.Go(func() {
			_, err := m.Start(t.Context(), w.limited("r-"+usd(float64(i)), 3), "")
			if err != nil && !errors.As(err, new(*manager.QuotaError)) {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				started++
			}
		})
	}
	wg.Wait()
	close(gate)
	if started != 3 {
		t.Errorf("%d runs started, want 3", started)
	}
}
