package runtime_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// remoteVendor is a vendor that other processes call.
type remoteVendor struct{ v *vendor }

func (r remoteVendor) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	return r.v.Generate(ctx, req, stream)
}

// remote makes the vendors of a host, and of its agents, remote.
func remote(h engine.Host) engine.Host {
	models, nested := map[string]model.Model{}, h.Nested
	for name, m := range h.Models {
		models[name] = remoteVendor{m.(*vendor)}
	}
	h.Models = models
	h.Nested = func(p *engine.Program, params map[string]any) (engine.Host, error) {
		inner, err := nested(p, params)
		return remote(inner), err
	}
	return h
}

// runLossy runs the program on workers that end: before they have performed an effect, or after.
func (w *budgetWorld) runLossy(t *testing.T) (res *engine.Result, lost int) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(w.seed, 2))
	h, in := remote(w.host), question()
	site := runtime.NewSite(w.main, h, in)
	defer func() { _ = site.Close() }() // there are no servers
	perform := func(task kernel.Task) kernel.Outcome {
		var work runtime.Work
		if err := json.Unmarshal(jsonvalue.Encode(runtime.WorkOf(task)), &work); err != nil {
			return kernel.Outcome{Fatal: err}
		}
		fate := rnd.IntN(12)
		if work.Class == journal.Write && metered(&work) {
			fate = -1 // ADR 20: what it used is not charged if a human decides about it
		}
		if fate == 0 {
			lost++
			return kernel.Outcome{Lost: true}
		}
		out := site.Perform(t.Context(), &work, nil)
		if fate == 1 {
			lost++
			return kernel.Outcome{Lost: true}
		}
		return out
	}
	o := runtime.Options{Virtual: true, Journal: &journal.Memory{RoundTrip: true}}
	for {
		o.World = &enginetest.World{Choose: rnd.IntN, Perform: perform}
		res = runtime.Run(t.Context(), w.main, in, h, o)
		if w.raises == 0 || !res.StopReason.Extendable() {
			return res, lost
		}
		o.Extension = w.raise(res)
	}
}

// TestBudgetsHoldWhenWorkersEnd loses calls of models, and of tools that call models, at random: the
// provider never charges more than the budget.
func TestBudgetsHoldWhenWorkersEnd(t *testing.T) {
	ends, losses := map[stop.Code]int{}, 0
	runs := budgetRuns(t) / 10
	for seed := range runs {
		w := newBudgetWorld(uint64(seed))
		w.crashes = 0
		res, lost := w.runLossy(t)
		losses += lost
		ends[res.StopReason.Code]++
		for i, b := range w.bills {
			if over := b.over(); over != "" {
				t.Errorf("seed %d, agent %d: %s, %d lost, ended %s", seed, i, over, lost, res.StopReason.Code)
			}
		}
		if res.StopReason.Code == stop.Internal {
			t.Errorf("seed %d: %s", seed, res.Error)
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d runs: ended %v, %d effects were lost", runs, ends, losses)
	if losses < runs {
		t.Error("too few effects were lost")
	}
}
