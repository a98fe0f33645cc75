package usage_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/usage"
)

func at(t *testing.T, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRunsCountInThePeriodInWhichTheyStarted(t *testing.T) {
	sunday, monday := at(t, "2026-11-22T00:00:00Z"), at(t, "2026-11-23T00:00:00Z")
	run := func(agent, started string, status stop.RunStatus, ms int64, usd float64) *runs.Summary {
		return &runs.Summary{Agent: agent, StartedAt: at(t, started), Status: status, DurationMS: ms, CostUSD: usd, Tokens: 10}
	}
	all := []*runs.Summary{
		run("b", "2026-11-23T12:00:00Z", stop.RunCompleted, 300, 0.25),
		run("a", "2026-11-22T23:59:59Z", stop.RunCompleted, 100, 0.5),
		run("a", "2026-11-23T01:00:00+02:00", stop.RunFailed, 900, 0.25), // still Sunday in UTC
		run("a", "2026-11-23T00:00:00Z", stop.RunInterrupted, 5000, 1),   // has no duration yet
		run("hidden", "2026-11-23T00:00:00Z", stop.RunCompleted, 1, 1),
	}
	agentOf := func(sum *runs.Summary) (string, bool) { return sum.Agent, sum.Agent != "hidden" }
	want := []usage.Point{
		{Start: sunday, Agent: "a", Runs: 2, Failed: 1, Tokens: 20, CostUSD: 0.75, P50: 100, P95: 900},
		{Start: monday, Agent: "a", Runs: 1, Tokens: 10, CostUSD: 1},
		{Start: monday, Agent: "b", Runs: 1, Tokens: 10, CostUSD: 0.25, P50: 300, P95: 300},
	}
	if d := cmp.Diff(want, usage.Compute(all, usage.Day, agentOf)); d != "" {
		t.Error(d)
	}
	byWeek := usage.Compute(all, usage.Week, agentOf)
	if len(byWeek) != 3 || !byWeek[0].Start.Equal(at(t, "2026-11-16T00:00:00Z")) || !byWeek[1].Start.Equal(monday) {
		t.Errorf("%+v", byWeek)
	}
	if got := usage.Compute(nil, usage.Day, agentOf); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestPercentilesAreValuesThatOccurred(t *testing.T) {
	var all []*runs.Summary
	for ms := range int64(20) {
		all = append(all, &runs.Summary{Status: stop.RunCompleted, DurationMS: 20 - ms})
	}
	got := usage.Compute(all, usage.Day, func(*runs.Summary) (string, bool) { return "a", true })
	if got[0].P50 != 10 || got[0].P95 != 19 {
		t.Errorf("%+v", got[0])
	}
}

func TestPeriodsHaveNoGaps(t *testing.T) {
	since, until := at(t, "2026-12-30T15:00:00Z"), at(t, "2027-01-01T00:00:00Z")
	if got := usage.Day.Starts(since, until); len(got) != 2 || !got[1].Equal(at(t, "2026-12-31T00:00:00Z")) {
		t.Error(got)
	}
	if got := usage.Week.Starts(since, until.AddDate(0, 0, 4)); len(got) != 2 || !got[0].Equal(at(t, "2026-12-28T00:00:00Z")) {
		t.Error(got)
	}
	if got := usage.Day.Starts(until, until); len(got) != 0 {
		t.Error(got)
	}
}

// BenchmarkCompute is the history of 10,000 runs of five agents in 90 days.
func BenchmarkCompute(b *testing.B) {
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	agents := []string{"a", "b", "c", "d", "e"}
	var all []*runs.Summary
	for n := range 10_000 {
		all = append(all, &runs.Summary{
			Agent: agents[n%5], StartedAt: first.Add(time.Duration(n) * 13 * time.Minute), Status: stop.RunCompleted, DurationMS: int64(n * 7919 % 60_000), Tokens: n, CostUSD: 0.01,
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		if got := usage.Compute(all, usage.Day, func(sum *runs.Summary) (string, bool) { return sum.Agent, true }); len(got) < 450 {
			b.Fatal(len(got))
		}
	}
}
