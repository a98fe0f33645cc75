package testcmd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/eval/testcase"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// testOutcomes holds the outcomes of cases, in the order of the plan; nil for those
// not reached.
type testOutcomes struct {
	outcomes []*testcase.Outcome
	duration time.Duration
}

func (d *testOutcomes) finished() int {
	n := 0
	for _, o := range d.outcomes {
		if o != nil {
			n++
		}
	}
	return n
}

// runTests runs cases concurrently. After ctx is done it starts no further ones.
func runTests(ctx context.Context, o *testOptions, plan *testPlan) *testOutcomes {
	began := time.Now()
	d := &testOutcomes{outcomes: make([]*testcase.Outcome, len(plan.cases))}
	next := make(chan int)
	var all sync.WaitGroup
	for range min(o.jobs, len(plan.cases)) {
		all.Go(func() {
			for i := range next {
				k := &plan.cases[i]
				from := time.Now()
				out := testcase.Run(ctx, plan.bench, k.unit.Unit, &k.Case)
				out.DurationMS = float64(time.Since(from).Microseconds()) / 1000
				d.outcomes[i] = out
			}
		})
	}
	for i := range plan.cases {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	all.Wait()
	d.duration = time.Since(began)
	return d
}

// recordTests runs cases without a cassette live, or all with one, sequentially
// because of rate limits.
func recordTests(ctx context.Context, c *ui.Call, o *testOptions, plan *testPlan) error {
	failed, nowhere := 0, 0
	for i := range plan.cases {
		k := &plan.cases[i]
		if k.Run == nil || k.Run.Replies != nil || !needsRecording(ctx, o, plan, k) {
			continue
		}
		fmt.Fprintf(c.Stderr, "recording %s: %s\n", k.unit.name, k.Name)
		res, err := testcase.Record(ctx, plan.bench, k.unit.Unit, &k.Case)
		switch {
		case ctx.Err() != nil:
			return ui.SignalError(ctx, fmt.Errorf("interrupted while recording %s; its recording was discarded", fspath.Quote(k.Name)))
		case err != nil:
			failed++
			if errors.Is(err, testcase.ErrNoSpecFile) {
				nowhere++
			}
			fmt.Fprintf(c.Stderr, "pexctl: %s: %v\n", k.Name, err)
		default:
			fmt.Fprintf(c.Stderr, "  %s, %s, %s\n", res.Status, ui.Count(res.Usage.ModelCalls, "model call"), ui.Cost(res.Usage.CostUSD))
		}
	}
	if failed > 0 && failed == nowhere {
		return failure.Usagef("%s could not be recorded; set where the cassette belongs, as shown above, and try again", ui.Count(failed, "case"))
	}
	if failed > 0 {
		return failure.Infra(fmt.Errorf("%s could not be recorded", ui.Count(failed, "case")))
	}
	return nil
}

// needsRecording reports whether to record a case. If it has no cassette, the case is
// tried first, because the spec's own LLMs may be scripted.
func needsRecording(ctx context.Context, o *testOptions, plan *testPlan, k *plannedCase) bool {
	if k.Run.Cassette != "" {
		return o.record == "all" || !fspath.Exists(k.Run.Cassette)
	}
	bench := *plan.bench
	bench.Update = false
	u := *k.unit.Unit
	u.Cover = nil
	trial := k.Case
	trial.Golden = "" // only to see whether it runs
	out := testcase.Run(ctx, &bench, &u, &trial)
	return out.MissingCassette
}
