//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/internal/acceptance"
	"github.com/pexctl/pex/internal/oteltest"
	"github.com/pexctl/pex/providers/otel"
)

// Each kind of run has the spans of its golden file, in both versions of the conventions.
func TestTracesOfRuns(t *testing.T) {
	for _, name := range []string{
		"adaptive-keywords", "agent-tool", "ask-any-words", "dag-diamond", "executor-agent", "fallback", "graph-agent",
		"guard-stop-after-tool", "max-steps-one", "memory-goes-on", "nested-approval", "provider-error", "retry", "tool-timeout",
	} {
		for _, conventions := range []string{"released", "latest"} {
			t.Run(name+"/"+conventions, func(t *testing.T) {
				c := oteltest.New(t)
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
				if conventions == "latest" {
					t.Setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
				}
				t.Run("run", func(t *testing.T) { runCase(t, "../../testdata/run/"+name+".txtar") })
				goldentest.File(t, "telemetry/"+name+"."+conventions+".golden", oteltest.Tree(t, c.Spans()))
			})
		}
	}
}

// Each run is counted once, also if several sessions execute it. The golden files have the sums
// over the commands of a case, each of which exports its metrics at its end.
func TestMetricsOfRuns(t *testing.T) {
	for _, name := range []string{"adaptive-keywords", "fallback", "nested-approval", "provider-error", "tool-timeout"} {
		for _, conventions := range []string{"released", "latest"} {
			t.Run(name+"/"+conventions, func(t *testing.T) {
				c := oteltest.New(t)
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
				t.Setenv("OTEL_TRACES_EXPORTER", "none")
				if conventions == "latest" {
					t.Setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
				}
				t.Run("run", func(t *testing.T) { runCase(t, "../../testdata/run/"+name+".txtar") })
				goldentest.File(t, "metrics/"+name+"."+conventions+".golden", oteltest.MetricText(c.Metrics()))
				if spans := c.Spans(); len(spans) > 0 {
					t.Errorf("%d spans without an exporter of traces", len(spans))
				}
			})
		}
	}
}

// runCase runs a case of testdata/run in a folder and home of its own.
func runCase(t *testing.T, archive string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PEX_HOME", t.TempDir())
	goldentest.Txtar(t, archive).Extract(t, dir)
	t.Chdir(dir)
	c, err := acceptance.Load(".")
	if err != nil {
		t.Fatal(err)
	}
	failures, err := acceptance.RunHere(c, func(args []string, in io.Reader, out, err io.Writer) int {
		return run(args, streams{in, out, err})
	}, t.Setenv)
	if err != nil || len(failures) > 0 {
		t.Fatal(failures, err)
	}
}

// namesOf closes the telemetry, and returns the names and ids of the exported spans, but for
// those of sessions.
func namesOf(t *testing.T, telemetry *otel.Telemetry, exported *tracetest.InMemoryExporter) (names []string) {
	t.Helper()
	if err := telemetry.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range exported.GetSpans() {
		if s.Name != "pex.session" {
			names = append(names, s.Name+" "+s.SpanContext.SpanID().String()+" in "+s.Parent.SpanID().String())
		}
	}
	if err := telemetry.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

var literal = regexp.MustCompile(`"([^"\\\n]*)"`)

// namesOfTraces returns the texts in the code that exports traces: names of spans, attributes,
// variables and their values.
func namesOfTraces(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, pattern := range []string{"../../providers/otel/*.go", "../../engine/tracecontext/*.go", "../../server/logs/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range literal.FindAllSubmatch(b, -1) {
				out[strings.TrimSpace(string(m[1]))] = true
			}
		}
	}
	return out
}
