//go:build e2e && unix

package e2e_test

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
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
