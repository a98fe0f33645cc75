//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// dashboard is what a test reads of a dashboard of Grafana.
type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Templating    struct{ List []struct{ Name string } }
	Panels        []struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ RefID, Expr string }
	}
}

// queries returns the expressions of the dashboard and of the alerts, by their names.
func queries(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	var d dashboard
	b, err := os.ReadFile(filepath.Join(top, "docs", "observability", "dashboard.json"))
	if err != nil || json.Unmarshal(b, &d) != nil || d.Title == "" || d.UID == "" || d.SchemaVersion < 39 {
		t.Fatal(err, d)
	}
	ids := map[int]bool{}
	for i, p := range d.Panels {
		if ids[p.ID] || p.GridPos.W <= 0 || p.GridPos.X+p.GridPos.W > 24 || !slices.Contains([]string{"row", "stat", "timeseries"}, p.Type) || p.Title == "" {
			t.Errorf("panel %+v", p)
		}
		ids[p.ID] = true
		for _, other := range d.Panels[:i] {
			if a, b := p.GridPos, other.GridPos; a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%s covers %s", p.Title, other.Title)
			}
		}
		for _, q := range p.Targets {
			out["panel "+p.Title+" "+q.RefID] = q.Expr
		}
	}
	var alerts struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	b, err = os.ReadFile(filepath.Join(top, "docs", "observability", "alerts.yaml"))
	if err != nil || yaml.Unmarshal(b, &alerts) != nil {
		t.Fatal(err)
	}
	for _, g := range alerts.Groups {
		for _, r := range g.Rules {
			out["alert "+r.Alert] = r.Expr
		}
	}
	return out
}

var (
	metricOf = regexp.MustCompile(`\b(?:pex|gen_ai|http_server)_\w+(?:\{[^}]*\})?`)
	labelOf  = regexp.MustCompile(`(\w+)(?:=~|!=|=)"`)
)

// Dashboard and alerts query metrics and labels that a server has.
func TestDashboardAndAlertsQueryWhatServersHave(t *testing.T) {
	all := queries(t)
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("spec.yaml", `apiVersion: pex/v1
kind: Agent
metadata: {name: desk}
llms:
  main:
    provider: scripted
    cost: {input: 1, output: 1}
    options:
      replies:
        - {role: planner, text: '{"steps": ["a"], "result": ""}', usage: {input_tokens: 10, output_tokens: 5}}
        - {role: executor, when: 'call == 1', tool_calls: [{name: w, arguments: {}}]}
        - {role: executor, text: ok}
        - {role: reflector, text: '{"steps": [], "result": "done"}'}
tools: {w: {type: command, effect: write, approval: always, description: w, argv: [sh, -c, 'true'], input_schema: {type: object}}}
memory: {backend: none}
`)
	write("server.yaml", "apiVersion: pex/v1\nkind: Server\nagents: {desk: {spec: spec.yaml}}\nlimits: {per_tenant: {runs_per_minute: 2}}\n")
	s := serveWith(t, []string{"server.yaml", "--home", "home"})
	for i := range 3 {
		var got struct{ Interrupts []struct{ Path string } }
		run := fmt.Sprint("r", i)
		s.send("POST", "/v1/agents/desk/runs", fmt.Sprintf(`{"run_id": %q, "question": "q"}`, run), &got)
		if len(got.Interrupts) == 1 {
			s.send("POST", "/v1/runs/"+run+"/answers", fmt.Sprintf(`{"path": %q, "do": "approve"}`, got.Interrupts[0].Path), nil)
			s.send("GET", "/v1/runs/"+run+"/events", "", nil)
		}
	}
	text := s.text("/metrics")
	labels := map[string]map[string]bool{} // by metric
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name := line[:strings.IndexAny(line, "{ ")]
		if labels[name] == nil {
			labels[name] = map[string]bool{"job": true, "instance": true}
		}
		for _, m := range labelOf.FindAllStringSubmatch(line, -1) {
			labels[name][m[1]] = true
		}
	}
	// No call of this test streams a reply or fails.
	labels["gen_ai_client_operation_time_to_first_chunk_seconds_bucket"] = labels["gen_ai_client_operation_duration_seconds_bucket"]
	if of := labels["gen_ai_client_operation_duration_seconds_count"]; of != nil {
		of["error_type"] = true
	}
	for where, expr := range all {
		found := metricOf.FindAllString(regexp.MustCompile(`\b(?:by|on) \([^)]*\)`).ReplaceAllString(expr, ""), -1)
		known := map[string]bool{"le": true}
		for _, m := range found {
			name, selector, _ := strings.Cut(m, "{")
			if labels[name] == nil {
				t.Errorf("%s: the server has no %s:\n%s", where, name, text)
				continue
			}
			for _, l := range labelOf.FindAllStringSubmatch(selector, -1) {
				if !labels[name][l[1]] {
					t.Errorf("%s: %s has no label %s", where, name, l[1])
				}
			}
			for l := range labels[name] {
				known[l] = true
			}
		}
		for _, by := range regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
			for l := range strings.SplitSeq(by[1], ", ") {
				if !known[l] {
					t.Errorf("%s: no metric has the label %s", where, l)
				}
			}
		}
	}
}
