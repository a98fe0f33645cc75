//go:build e2e && unix

package e2e_test

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/tracecontext"
	"github.com/pexctl/pex/internal/e2e"
)

// TestE2ETelemetryOfARestartedRun: the OpenTelemetry Collector receives a run of two processes as one
// trace in which every span is there once, below its parent, and metrics of both processes.
func TestE2ETelemetryOfARestartedRun(t *testing.T) {
	address, received := e2e.OTelCollector(t)
	pexctl, dir := e2e.Built(t, "cmd/pexctl"), t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "refund-desk"), os.DirFS("../../specs/refund-desk")); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		exit int
		args []string
	}{
		{5, []string{"run", "refund-desk", "--run-id", "nora", "-q"}},
		{0, []string{"resume", "nora", "--answer", "step.s3/turn.1/tool.0.approval=approve", "-q"}},
	} {
		cmd := exec.CommandContext(t.Context(), pexctl, step.args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PEX_HOME="+filepath.Join(dir, "home"), "OTEL_EXPORTER_OTLP_ENDPOINT="+address)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != step.exit || strings.Contains(string(out), "telemetry") {
			t.Fatalf("%q: %s", step.args, out)
		}
	}
	var spans []e2e.CollectedSpan
	for range 100 { // its output is written in the background
		if spans = e2e.CollectedSpans(received()); len(spans) > 0 && spans[len(spans)-1].Name == "invoke_agent refund-desk" {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	trace := tracecontext.TraceOf("nora", "")
	names, counts := map[string]string{"": "none"}, map[string]int{}
	for _, s := range spans {
		if _, ok := names[s.ID]; ok || s.Trace != hex.EncodeToString(trace[:]) {
			t.Errorf("%+v is there twice, or in another trace", s)
		}
		names[s.ID] = s.Name
	}
	for _, s := range spans {
		kind, _, _ := strings.Cut(s.Name, " ")
		above, _, _ := strings.Cut(names[s.Parent], " ")
		counts[kind+" in "+above]++
		if names[s.Parent] == "" {
			t.Errorf("%+v has an unknown parent", s)
		}
	}
	for _, want := range []string{
		"invoke_agent in none", "pex.session in invoke_agent", "plan in invoke_agent", "pex.step in invoke_agent", "chat in plan", "chat in pex.step",
		"execute_tool in pex.step", "pex.ask in pex.step",
	} {
		if counts[want] == 0 {
			t.Errorf("no %s: %v", want, counts)
		}
	}
	if counts["invoke_agent in none"] != 1 || counts["pex.session in invoke_agent"] != 2 {
		t.Errorf("%v", counts)
	}
	for _, metric := range []string{"gen_ai.client.token.usage", "gen_ai.client.operation.duration", "pex.runs", "pex.tool.calls"} {
		if !strings.Contains(received(), "-> Name: "+metric+"\n") {
			t.Errorf("no metric %s", metric)
		}
	}
	t.Logf("%d spans of one trace: %v", len(spans), counts)
}

// scrapeTime is how long Prometheus scrapes a server with runs.
const scrapeTime = time.Minute

// TestE2ETelemetryForPrometheus: Prometheus of Debian scrapes a server with runs for a minute without an
// error and with few series; promtool finds nothing to improve, and the rules and the queries of the dashboard
// work on what was scraped.
func TestE2ETelemetryForPrometheus(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"hello", "refund-desk"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS("../../specs/"+name)); err != nil {
			t.Fatal(err)
		}
	}
	docs, err := filepath.Abs("../../docs/observability")
	if err != nil {
		t.Fatal(err)
	}
	server := e2e.Serve(t, dir, nil, "hello", "refund-desk", "--home", filepath.Join(dir, "home"))
	prometheus := e2e.Prometheus(t, server, filepath.Join(docs, "alerts.yaml"))
	runs := 0
	for end := time.Now().Add(scrapeTime); time.Now().Before(end); runs++ {
		agent := []string{"hello", "hello", "refund-desk"}[runs%3]
		run := "run-" + strconv.Itoa(runs)
		send(t, server+"/v1/agents/"+agent+"/runs", `{"run_id": "`+run+`"}`)
		if agent == "refund-desk" && runs%2 == 0 {
			send(t, server+"/v1/runs/"+run+"/answers", `{"path": "step.s3/turn.1/tool.0.approval", "do": "approve"}`)
		}
		time.Sleep(100 * time.Millisecond)
	}
	value := func(query string) float64 {
		t.Helper()
		got := queried(t, prometheus, query)
		if len(got) != 1 {
			t.Fatalf("%s: %v", query, got)
		}
		return got[0]
	}
	if up, scrapes := value(`min_over_time(up[1m])`), value(`count_over_time(up[1m])`); up != 1 || scrapes < 50 {
		t.Errorf("up %v, %v scrapes", up, scrapes)
	}
	series, slowest := value(`max_over_time(scrape_samples_scraped[1m])`), value(`max_over_time(scrape_duration_seconds[1m])`)
	if series > 200 || slowest > 1 {
		t.Errorf("%v series, %v s", series, slowest)
	}
	if ended := value(`sum(pex_runs_total)`); ended < float64(runs)/2 {
		t.Errorf("%v of %d runs", ended, runs)
	}
	var rules struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
	}
	if err := json.Unmarshal([]byte(e2e.Fetch(t, prometheus+"/api/v1/rules")), &rules); err != nil || len(rules.Data.Groups) != 1 {
		t.Fatal(err, rules)
	}
	for _, r := range rules.Data.Groups[0].Rules {
		if r.Health != "ok" {
			t.Errorf("%+v", r)
		}
	}
	e2e.Promtool(t, strings.NewReader(e2e.Fetch(t, server+"/metrics")), "check", "metrics")
	e2e.Promtool(t, nil, "check", "config", filepath.Join(docs, "prometheus.yaml"))
	e2e.Promtool(t, nil, "test", "rules", filepath.Join(docs, "alerts_test.yaml"))
	empty := queryDashboard(t, prometheus, filepath.Join(docs, "dashboard.json"))
	t.Logf("%d runs, %v series, slowest scrape %.0f ms; panels without data: %q", runs, series, slowest*1000, empty)
}

// queryDashboard queries what the panels show, and returns the titles of those without data. Only
// what did not happen may have none: calls with a price, and streams.
func queryDashboard(t *testing.T, prometheus, file string) (empty []string) {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	b, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(b, &dashboard) != nil || len(dashboard.Panels) == 0 {
		t.Fatal(err, len(dashboard.Panels))
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			query := strings.NewReplacer("$job", ".*", "$__rate_interval", "30s", "$__range", "1m").Replace(target.Expr)
			if len(queried(t, prometheus, query)) > 0 {
				continue
			}
			if empty = append(empty, p.Title); !regexp.MustCompile("Cost per hour|first chunk").MatchString(p.Title) {
				t.Errorf("panel %s: no data for %s", p.Title, query)
			}
		}
	}
	return empty
}

// queried returns the values of a query.
func queried(t *testing.T, prometheus, query string) (out []float64) {
	t.Helper()
	var res struct {
		Status string
		Data   struct{ Result []struct{ Value [2]any } }
	}
	if err := json.Unmarshal([]byte(e2e.Fetch(t, prometheus+"/api/v1/query?query="+url.QueryEscape(query))), &res); err != nil || res.Status != "success" {
		t.Fatal(query, err, res)
	}
	for _, r := range res.Data.Result {
		text, _ := r.Value[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// send posts JSON, and waits for the result of a run.
func send(t *testing.T, url, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Prefer": {"wait=30"}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		b, _ := io.ReadAll(res.Body)
		t.Fatal(res.Status, string(b))
	}
}
