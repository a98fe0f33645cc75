package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/usage"
)

// span is a time that the page of the usage can show.
type span struct {
	Name, Label string
	by          usage.Period
	periods     int
}

// spans are the spans; the first is the default.
var spans = []span{
	{"30d", "30 days", usage.Day, 30},
	{"7d", "7 days", usage.Day, 7},
	{"90d", "90 days", usage.Day, 90},
	{"26w", "26 weeks", usage.Week, 26},
}

// maxSeries is how many agents a picture shows: those with the most runs.
const maxSeries = 8

// usageData is the data of the page of the usage.
type usageData struct {
	Today           manager.Usage
	Running, Queued int
	Agents          []string // to choose from
	Agent           string
	Spans           []span
	Span            string
	Totals          []usage.Point // by agent, most runs first
	Charts          []chart
}

func (u *UI) showUsage(ctx context.Context, c *access.Client, r *http.Request) (*page, error) {
	if err := c.Permit(auth.View, nil); err != nil {
		return nil, err
	}
	today, err := c.Manager.Usage(ctx)
	if err != nil {
		return nil, err
	}
	chosen := spans[max(0, slices.IndexFunc(spans, func(s span) bool { return s.Name == r.URL.Query().Get("span") }))]
	h := access.History{By: chosen.by, Until: today.Renews, Since: chosen.by.Start(today.Renews.Add(-time.Nanosecond))}
	for range chosen.periods - 1 {
		h.Since = h.By.Start(h.Since.Add(-time.Nanosecond))
	}
	points, err := c.UsageOver(ctx, h)
	if err != nil {
		return nil, err
	}
	d := usageData{Today: today, Agents: agentsOf(points), Agent: r.URL.Query().Get("agent"), Spans: spans, Span: chosen.Name}
	if d.Agent != "" {
		points = slices.DeleteFunc(points, func(p usage.Point) bool { return p.Agent != d.Agent })
	}
	d.Running, d.Queued = c.Manager.Load()
	d.Totals = totals(points)
	d.Charts = usageCharts(points, d.Totals, h)
	return &page{Name: "usage", Title: "Usage", Data: d, Charts: true}, nil
}

// agentsOf returns the agents of points, sorted.
func agentsOf(points []usage.Point) (all []string) {
	for _, p := range points {
		all = append(all, p.Agent)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// totals returns the sum of points by agent, most runs first. The durations are not added.
func totals(points []usage.Point) (out []usage.Point) {
	for _, p := range points {
		i := slices.IndexFunc(out, func(t usage.Point) bool { return t.Agent == p.Agent })
		if i < 0 {
			i, out = len(out), append(out, usage.Point{Agent: p.Agent})
		}
		t := &out[i]
		t.Runs, t.Failed, t.Tokens, t.CostUSD = t.Runs+p.Runs, t.Failed+p.Failed, t.Tokens+p.Tokens, t.CostUSD+p.CostUSD
	}
	slices.SortFunc(out, func(a, b usage.Point) int { return cmp.Or(b.Runs-a.Runs, cmp.Compare(a.Agent, b.Agent)) })
	return out
}

// usageCharts returns the charts of points, with a series for each agent.
func usageCharts(points, agents []usage.Point, h access.History) (out []chart) {
	if len(points) == 0 {
		return nil
	}
	for _, what := range []struct {
		title string
		unit  unit
		value func(*usage.Point) (float64, bool)
	}{
		{"Runs", number, func(p *usage.Point) (float64, bool) { return float64(p.Runs), true }},
		{"Cost", dollars, func(p *usage.Point) (float64, bool) { return p.CostUSD, true }},
		{"Tokens", number, func(p *usage.Point) (float64, bool) { return float64(p.Tokens), true }},
		{"Failed runs", number, func(p *usage.Point) (float64, bool) { return float64(p.Failed), true }},
		{"Median duration (p50)", millis, func(p *usage.Point) (float64, bool) { return float64(p.P50), p.P50 > 0 }},
		{"95th percentile of the duration (p95)", millis, func(p *usage.Point) (float64, bool) { return float64(p.P95), p.P95 > 0 }},
	} {
		ch := chart{Title: what.title, Unit: what.unit, Drawn: maxSeries}
		column := map[string]int{}
		for i := range agents {
			ch.Series = append(ch.Series, agents[i].Agent)
			column[agents[i].Agent] = i
		}
		row := map[int64][]cell{}
		for _, at := range h.By.Starts(h.Since, h.Until) {
			cells := make([]cell, len(agents))
			if what.unit != millis { // without runs, it is 0
				for i := range cells {
					cells[i] = what.unit.of(0)
				}
			}
			row[at.Unix()] = cells
			ch.Rows = append(ch.Rows, chartRow{At: at, Label: at.Format(time.DateOnly), Cells: cells})
		}
		for i := range points {
			p := &points[i]
			if v, ok := what.value(p); ok && row[p.Start.Unix()] != nil {
				row[p.Start.Unix()][column[p.Agent]] = what.unit.of(v)
			}
		}
		slices.Reverse(ch.Rows)
		if !ch.isEmpty() {
			out = append(out, ch)
		}
	}
	return out
}
