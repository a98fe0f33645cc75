package usage

import (
	"cmp"
	"slices"
	"time"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
)

// Period is the length of a Point.
type Period string

// The periods. They are of UTC; a week starts on Monday.
const (
	Day  Period = "day"
	Week Period = "week"
)

// Start returns the start of the period that contains a time.
func (p Period) Start(t time.Time) time.Time {
	t = t.UTC()
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	if p == Week {
		day = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	}
	return day
}

// Next returns the start of the period after the one that starts at a time.
func (p Period) Next(start time.Time) time.Time {
	if p == Week {
		return start.AddDate(0, 0, 7)
	}
	return start.AddDate(0, 0, 1)
}

// Back returns the start of the history that ends at a time, unless the caller chooses another:
// 30 days or 26 weeks.
func (p Period) Back(until time.Time) time.Time {
	last := p.Start(until.Add(-time.Nanosecond))
	if p == Week {
		return last.AddDate(0, 0, -25*7)
	}
	return last.AddDate(0, 0, -29)
}

// Starts returns the starts of the periods that contain the times from since to until, which is
// exclusive.
func (p Period) Starts(since, until time.Time) (out []time.Time) {
	for at := p.Start(since); at.Before(until); at = p.Next(at) {
		out = append(out, at)
	}
	return out
}

// Point is the usage of the runs of an agent that started in a period.
type Point struct {
	Start   time.Time `json:"start" doc:"Start of the day or week, in UTC."`
	Agent   string    `json:"agent" doc:"Name of the agent, or of the spec if the server has no agent for it."`
	Runs    int       `json:"runs" doc:"Runs that started in the period."`
	Failed  int       `json:"failed" doc:"Those with status failed."`
	Tokens  int       `json:"tokens" doc:"Input and output tokens. Runs that an earlier version stored count 0."`
	CostUSD float64   `json:"cost_usd" doc:"Their cost, in USD."`
	P50     int64     `json:"p50_ms" doc:"Median duration of the runs that completed or failed, in milliseconds; 0 without any."`
	P95     int64     `json:"p95_ms" doc:"95th percentile of these durations."`
}

// Compute returns a point for each period and agent with runs, by period and agent. agentOf returns
// the agent of a run, and whether the run counts.
func Compute(all []*runs.Summary, p Period, agentOf func(*runs.Summary) (string, bool)) []Point {
	type key struct {
		at    int64
		agent string
	}
	points, durations := map[key]*Point{}, map[key][]int64{}
	for _, sum := range all {
		agent, ok := agentOf(sum)
		if !ok {
			continue
		}
		start := p.Start(sum.StartedAt)
		k := key{start.Unix(), agent}
		point := points[k]
		if point == nil {
			point = &Point{Start: start, Agent: agent}
			points[k] = point
		}
		point.Runs++
		point.Tokens += sum.Tokens
		point.CostUSD += sum.CostUSD
		if sum.Status == stop.RunFailed {
			point.Failed++
		}
		if sum.Status == stop.RunFailed || sum.Status == stop.RunCompleted {
			durations[k] = append(durations[k], sum.DurationMS)
		}
	}
	out := make([]Point, 0, len(points))
	for k, point := range points {
		took := durations[k]
		slices.Sort(took)
		point.P50, point.P95 = quantile(took, 50), quantile(took, 95)
		out = append(out, *point)
	}
	slices.SortFunc(out, func(a, b Point) int { return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Agent, b.Agent)) })
	return out
}

// quantile returns a percentile of sorted values: the least one that percent of them do not
// exceed (nearest rank). It is 0 without values.
func quantile(sorted []int64, percent int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}
