package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/problem"
)

// maxEvaluations is how many evaluations the page shows.
const maxEvaluations = 200

// evalList is the data of the list of evaluations.
type evalList struct {
	Evals  []batch.Summary
	Suites []string
	Suite  string // the chosen one; "" = all
	Trends []suiteTrend
}

// suiteTrend has the charts of a suite over time.
type suiteTrend struct {
	Suite  string
	Charts []chart
}

func (u *UI) listEvaluations(_ context.Context, c *access.Client, r *http.Request) (*page, error) {
	found, err := c.Evaluations()
	if err != nil {
		return nil, err
	}
	d := evalList{Suite: r.URL.Query().Get("suite")}
	for _, m := range found {
		if m.Suite != "" && !slices.Contains(d.Suites, m.Suite) {
			d.Suites = append(d.Suites, m.Suite)
		}
	}
	slices.Sort(d.Suites)
	if d.Suite != "" {
		found = slices.DeleteFunc(found, func(m report.Manifest) bool { return m.Suite != d.Suite })
	}
	for _, m := range found[:min(len(found), maxEvaluations)] {
		d.Evals = append(d.Evals, c.SummarizeEvaluation(m))
	}
	for _, t := range batch.Trends(d.Evals) {
		d.Trends = append(d.Trends, suiteTrend{t.Suite, trendCharts(t)})
	}
	return &page{Name: "evals", Title: "Evaluations", Data: d, Charts: len(d.Trends) > 0}, nil
}

// trendCharts returns the charts of a trend: pass rate, cost and time.
func trendCharts(t batch.Trend) []chart {
	rate := chart{Title: "Pass rate", Unit: percent, Series: []string{"pass rate", "95% interval from", "to"}, Drawn: 3, Band: true}
	cost := chart{Title: "Cost", Unit: dollars, Series: []string{"cost of all trials"}, Drawn: 1}
	took := chart{Title: "Time per trial", Unit: millis, Series: []string{"median"}, Drawn: 1}
	for _, e := range slices.Backward(t.Evaluations) {
		row := func(cells ...cell) chartRow {
			return chartRow{At: e.StartedAt, Label: e.StartedAt.UTC().Format(time.DateTime), Link: evalPath(e.ID), Cells: cells}
		}
		rate.Rows = append(rate.Rows, row(percent.of(e.PassRate), percent.of(e.CILow), percent.of(e.CIHigh)))
		cost.Rows = append(cost.Rows, row(dollars.of(e.CostUSD)))
		took.Rows = append(took.Rows, row(millis.of(1000*e.Latency)))
	}
	out := []chart{rate}
	for _, c := range []chart{cost, took} {
		if !c.isEmpty() {
			out = append(out, c)
		}
	}
	return out
}

func evalPath(id string) string { return "/evals/" + url.PathEscape(id) }

// evalData is the data of the page of an evaluation.
type evalData struct {
	batch.Summary
	Dataset string
	Agents  map[string]string // names of agents by spec
}

func (u *UI) showEvaluation(_ context.Context, c *access.Client, r *http.Request) (*page, error) {
	found, err := c.Evaluations()
	if err != nil {
		return nil, err
	}
	id := r.PathValue("eval")
	i := slices.IndexFunc(found, func(m report.Manifest) bool { return m.ID == id })
	if i < 0 {
		return nil, problem.New(problem.NotFound, "no evaluation %q", id)
	}
	d := evalData{Summary: c.SummarizeEvaluation(found[i]), Agents: map[string]string{}}
	for _, v := range d.Variants {
		d.Agents[v.Spec.Name] = c.AgentOf(access.Owner{Spec: v.Spec.Name})
	}
	return &page{Name: "eval", Title: fmt.Sprintf("Evaluation of %s", d.Suite), Data: d}, nil
}
