package otel_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	prometheus "github.com/prometheus/common/model"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/providers/otel"
)

// openScraped opens metrics that are only scraped.
func openScraped(t *testing.T, s otel.Scrape, pairs ...string) *otel.Telemetry {
	t.Helper()
	tel, err := otel.Open(t.Context(), otel.Options{Getenv: environment(pairs...), Scrape: &s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tel.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return tel
}

// scrape returns what GET /metrics shows in a format.
func scrape(t *testing.T, tel *otel.Telemetry, accept string) map[string]*dto.MetricFamily {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept", accept)
	tel.Metrics().Handler().ServeHTTP(w, r)
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	out := map[string]*dto.MetricFamily{}
	d := expfmt.NewDecoder(w.Body, expfmt.ResponseFormat(w.Header()))
	for {
		f := &dto.MetricFamily{}
		if err := d.Decode(f); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out[f.GetName()] = f
	}
}

// seriesOf returns how many series families have in the text format.
func seriesOf(families map[string]*dto.MetricFamily) (n int) {
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if h := m.GetHistogram(); h == nil {
				n++
			} else {
				n += 2 + len(h.GetBucket())
			}
		}
	}
	return n
}

// total returns the sum of a counter, or of the counts of a histogram, over labels with a value.
func total(f *dto.MetricFamily, label, value string) (sum float64) {
	for _, m := range f.GetMetric() {
		has := label == "" || slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == label && l.GetValue() == value })
		if has {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

var ends = []stop.Code{stop.Answered, stop.Guard, stop.MaxSteps, stop.BudgetTokens, stop.Deadline, stop.ProviderError, stop.Cancelled, stop.Internal}

// runOf are the events of a run of an agent with a model and a tool.
func runOf(n int, m, tool string) []engine.Event {
	p := &engine.Program{Name: "p", Models: []engine.ModelSpec{{Name: "main", Provider: m, Params: model.Params{Model: m}}}}
	statuses := []stop.RunStatus{stop.RunCompleted, stop.RunStopped, stop.RunFailed, stop.RunCancelled}
	events := []engine.Event{
		{Type: engine.RunStarted},
		{Type: engine.ModelCompleted, Path: "plan.1/model", Model: "main", Usage: &model.Tokens{Input: 100, Output: 10}, CostUSD: .25, Duration: 1500, FirstToken: 200},
		{Type: engine.ToolCompleted, Path: "step.s1/tool.0", Tool: tool, Status: []string{"ok", "error", "denied", "timeout", "unknown"}[n%5]},
		{Type: engine.StepCompleted, Path: "step.s1", Step: &engine.StepEvent{ID: "s1", Status: []plan.Status{plan.OK, plan.Failed, plan.Limit, plan.Loop, plan.Timeout, plan.Cancelled, plan.Skipped, plan.NeedsReview}[n%8]}},
		{Type: engine.RunCompleted, Status: string(statuses[n%4]), Stop: &stop.Reason{Code: ends[n%len(ends)]}, Duration: 2000, Totals: &engine.Usage{CostUSD: .5}},
	}
	for i := range events {
		events[i].Seq, events[i].Program, events[i].At = i+1, p, time.Unix(int64(i), 0)
	}
	return events
}

// A scrape has at most 200 series, however many agents, models, tools, tenants, routes and
// strange names there are, and nothing is lost.
func TestSeriesAreBounded(t *testing.T) {
	for _, conventions := range []string{"", "gen_ai_latest_experimental"} {
		for _, tenant := range []string{"", "shared"} {
			t.Run(conventions+" "+tenant, func(t *testing.T) {
				tel := openScraped(t, otel.Scrape{Tenant: tenant}, "OTEL_SEMCONV_STABILITY_OPT_IN", conventions)
				const n = 400
				for i := range n {
					hostile := fmt.Sprintf("%d \xff\xfe\x00 \"}\n# HELP x\n{%s", i, strings.Repeat("é", i))
					in := &engine.Input{RunID: fmt.Sprint("r", i), Agent: hostile, Origin: &engine.Origin{Tenant: "t" + hostile}}
					events := runOf(i, hostile, hostile)
					sink := tel.Sinks(events[0].Program, in, nil)[0]
					for _, ev := range events {
						sink.Send(ev)
					}
					tel.Metrics().Request("M"+hostile, []string{"", "/r" + hostile}[i%2], 200+i%400, time.Second)
					tel.Metrics().Refused([]string{"a", "b", "c", "d"}[i%4])
				}
				tel.Metrics().Committed(time.Millisecond)
				loads := make([]otel.Load, 50)
				for i := range loads {
					loads[i] = otel.Load{Tenant: fmt.Sprint("t", i), Active: 1, Queued: 2, Questions: 3, Watchers: 4}
				}
				if err := tel.Metrics().Observe(func() []otel.Load { return loads }); err != nil {
					t.Fatal(err)
				}
				families := scrape(t, tel, "")
				series := seriesOf(families)
				t.Log(series, "series")
				if series > 200 {
					t.Errorf("%d series", series)
				}
				for name, want := range map[string]float64{
					"pex_runs_total": n, "pex_steps_total": n, "pex_tool_calls_total": n, "http_server_request_duration_seconds": n, "pex_run_duration_seconds": n,
					"pex_run_cost_usd_total": n / 2, "pex_budget_refused_total": n, "pex_journal_commit_duration_seconds": 1,
					"pex_runs_active": 50, "pex_runs_queued": 100, "pex_questions_open": 150, "pex_feed_watchers": 200, "target_info": 1,
				} {
					if got := total(families[name], "", ""); math.Abs(got-want) > 1e-9 {
						t.Errorf("%s: %g, want %g", name, got, want)
					}
				}
				for status, want := range map[string]float64{"completed": n / 4, "stopped": n / 4, "failed": n / 4, "cancelled": n / 4} {
					if got := total(families["pex_runs_total"], "status", status); got != want {
						t.Errorf("runs that %s: %g, want %g", status, got, want)
					}
				}
			})
		}
	}
}

// A scrape is valid in both formats, with names and units of Prometheus, and few buckets.
func TestFormatsOfPrometheus(t *testing.T) {
	tel := openScraped(t, otel.Scrape{})
	events := runOf(0, "gpt-5", "refund")
	sink := tel.Sinks(events[0].Program, &engine.Input{RunID: "r", Agent: "desk"}, nil)[0]
	for _, ev := range events {
		sink.Send(ev)
	}
	for _, accept := range []string{"", "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8,text/plain;version=0.0.4;q=0.5"} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil)
		r.Header.Set("Accept", accept)
		tel.Metrics().Handler().ServeHTTP(w, r)
		for _, want := range []string{
			"# TYPE gen_ai_client_operation_duration_seconds histogram\n",
			`gen_ai_client_operation_duration_seconds_bucket{gen_ai_operation_name="chat",gen_ai_provider_name="gpt-5",gen_ai_request_model="gpt-5",le="1.28"} 0`,
			`gen_ai_client_operation_duration_seconds_bucket{gen_ai_operation_name="chat",gen_ai_provider_name="gpt-5",gen_ai_request_model="gpt-5",le="5.12"} 1`,
			`gen_ai_client_token_usage_sum{gen_ai_operation_name="chat",gen_ai_provider_name="gpt-5",gen_ai_request_model="gpt-5",gen_ai_token_type="input"} 100`,
			`pex_runs_total{agent="desk",status="completed",stop_reason="answered"} 1`,
			`pex_run_cost_usd_total{agent="desk"} 0.5`,
			`pex_tool_calls_total{status="ok",tool="refund"} 1`,
		} {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: no %s in\n%s", w.Header().Get("Content-Type"), want, w.Body)
			}
		}
		if strings.Contains(accept, "openmetrics") != strings.HasSuffix(w.Body.String(), "# EOF\n") {
			t.Errorf("%q: %s", accept, w.Header().Get("Content-Type"))
		}
	}
	for name := range scrape(t, tel, "") {
		if !prometheus.LegacyValidation.IsValidMetricName(name) {
			t.Errorf("%s is not a name of Prometheus", name)
		}
	}
}

// However often the sessions of a run are killed and resumed, it is counted once.
func TestKilledSessionsCountOnce(t *testing.T) {
	events := runOf(0, "gpt-5", "refund")
	for killed := range len(events) {
		tel := openScraped(t, otel.Scrape{})
		send := func(replayed, until int) {
			sink := tel.Sinks(events[0].Program, &engine.Input{RunID: "r"}, nil)[0]
			for i, ev := range events[:until] {
				if i < replayed {
					sink.(engine.ReplaySink).Replay(ev)
				} else {
					sink.Send(ev)
				}
			}
		}
		send(0, killed)
		send(killed, len(events))
		families := scrape(t, tel, "")
		for name, want := range map[string]float64{"pex_runs_total": 1, "pex_steps_total": 1, "pex_tool_calls_total": 1, "gen_ai_client_operation_duration_seconds": 1, "pex_run_cost_usd_total": .5} {
			if got := total(families[name], "", ""); got != want {
				t.Errorf("killed after event %d: %s is %g", killed, name, got)
			}
		}
	}
}

// The wait for an answer is that between two sessions, too. A question that nobody answers has none.
func TestWaitForAnswers(t *testing.T) {
	tel := openScraped(t, otel.Scrape{})
	p, at := &engine.Program{Name: "p"}, time.Unix(1_700_000_000, 0)
	ask := engine.Event{Seq: 1, Type: engine.InterruptRaised, Program: p, Path: "step.s1/tool.0/approval", At: at, Interrupt: &interrupt.Question{}}
	answered := engine.Event{Seq: 2, Type: engine.ToolStarted, Program: p, Path: "step.s1/tool.0", At: at.Add(90 * time.Minute)}
	end := engine.Event{Seq: 3, Type: engine.RunCompleted, Program: p, At: at.Add(2 * time.Hour), Status: "cancelled", Stop: &stop.Reason{Code: stop.Cancelled}}
	for _, rest := range [][]engine.Event{{answered, end}, {end}} {
		sink := tel.Sinks(p, &engine.Input{RunID: "r"}, nil)[0]
		sink.(engine.ReplaySink).Replay(ask)
		for _, ev := range rest {
			sink.Send(ev)
		}
	}
	h := scrape(t, tel, "")["pex_question_wait_seconds"].GetMetric()[0].GetHistogram()
	if h.GetSampleCount() != 1 || h.GetSampleSum() != 5400 {
		t.Error(h)
	}
}

// Metrics are served although settings for their export are not valid.
func TestScrapeWithInvalidSettings(t *testing.T) {
	tel, err := otel.Open(t.Context(), otel.Options{Getenv: environment("OTEL_METRICS_EXPORTER", "nonsense"), Scrape: &otel.Scrape{}})
	if err == nil || tel == nil {
		t.Fatal(tel, err)
	}
	tel.Metrics().Refused("a")
	if n := total(scrape(t, tel, "")["pex_budget_refused_total"], "reason", "a"); n != 1 {
		t.Error(n)
	}
	if err := tel.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
