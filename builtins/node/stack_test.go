//go:build !race

package node_test

import (
	"context"
	goruntime "runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
)

// blockingModel blocks the last reviews of runs until release is closed.
type blockingModel struct {
	model.Model
	lastReview func(*model.Request) bool
	blocked    *sync.WaitGroup
	release    chan struct{}
}

func (m blockingModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	if m.lastReview(req) {
		m.blocked.Done()
		<-m.release
	}
	return m.Model.Generate(ctx, req, stream)
}

// TestStacksStaySmall limits the stack memory per run in flight: 16 kB for the goroutine
// of the run and 8 kB for its model call. If the run needs more than 16 kB once, the Go
// runtime doubles its stack to 32 kB.
func TestStacksStaySmall(t *testing.T) {
	t.Run("without a journal", func(t *testing.T) {
		testStacks(t, func() runtime.Options { return runtime.Options{} })
	})
	t.Run("with a journal", func(t *testing.T) {
		testStacks(t, func() runtime.Options { return runtime.Options{Journal: &journal.Memory{RoundTrip: true}} })
	})
}

func testStacks(t *testing.T, options func() runtime.Options) {
	const runs, steps, limit = 1000, 5, 32 << 10
	p, h := perProgram(t), perHost(steps)
	run := func(h engine.Host, id string) error {
		return completed(runtime.Run(context.Background(), p, inputOf(id), h, options()))
	}
	if err := run(h, "first"); err != nil { // fills caches, which needs deep stacks
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection shrinks stacks
	goruntime.GC()
	m := blockingModel{
		Model: h.Models["main"], blocked: &sync.WaitGroup{}, release: make(chan struct{}),
		lastReview: func(req *model.Request) bool { return req.Role == "reflector" && lastItem(req.Messages) == steps },
	}
	before := stackBytes()
	var all sync.WaitGroup
	m.blocked.Add(runs)
	for i := range runs {
		all.Go(func() {
			host := engine.Host{Models: map[string]model.Model{"main": m}, Tools: h.Tools}
			if err := run(host, "r"+strconv.Itoa(i)); err != nil {
				t.Error(err)
			}
		})
	}
	m.blocked.Wait()
	perRun := (stackBytes() - before) / runs
	close(m.release)
	all.Wait()
	t.Logf("%d bytes of stack per run", perRun)
	if perRun > limit {
		t.Errorf("%d bytes of stack per run, want at most %d", perRun, limit)
	}
}

// stackBytes returns the memory reserved for the stacks of goroutines.
func stackBytes() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
