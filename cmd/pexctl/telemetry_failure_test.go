//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/pexctl/pex/engine"
)

// partial is the response of a collector that rejects a span.
func partial(t *testing.T) []byte {
	t.Helper()
	b, err := proto.Marshal(&collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: "no room"}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A collector that fails changes neither the output of a run nor its exit code, and is one
// warning. Redirects are not followed: the target would receive the spans and the headers.
func TestCollectorsThatFail(t *testing.T) {
	status := func(code int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			fmt.Fprint(w, "no")
		}
	}
	var followed atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	t.Cleanup(other.Close)
	released := make(chan struct{})
	t.Cleanup(func() { close(released) })
	for name, respond := range map[string]http.HandlerFunc{ // nil = nobody listens
		"down":          nil,
		"slow":          func(http.ResponseWriter, *http.Request) { <-released },
		"reset":         func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"429":           status(429, "Retry-After", "60"),
		"503":           status(503),
		"500":           status(500),
		"400":           status(400),
		"401":           status(401),
		"redirect":      status(307, "Location", other.URL+"/v1/traces"),
		"404":           status(404),
		"redirect loop": status(307, "Location", "/v1/traces"),
		"partial success": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			_, _ = w.Write(partial(t))
		},
		"not protobuf": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			fmt.Fprint(w, "<html>")
		},
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PEX_HOME", t.TempDir())
			t.Setenv("OTEL_BSP_EXPORT_TIMEOUT", "300")
			want, said, _ := pexctl("run", "../../specs/hello", "-o", "json", "--run-id", "r")
			if want != 0 {
				t.Fatal(said)
			}
			address := "http://127.0.0.1:1"
			if respond != nil {
				s := httptest.NewServer(respond)
				t.Cleanup(s.CloseClientConnections)
				address = s.URL
			}
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=k3y")
			t.Setenv("PEX_HOME", t.TempDir())
			exit, out, errs := pexctl("run", "../../specs/hello", "-o", "json", "--run-id", "r")
			if exit != want || responseOf(out) != responseOf(said) {
				t.Errorf("exit %d: %s\n%s", exit, out, errs)
			}
			warnings := strings.Count(errs, "warning: telemetry: ")
			if hint := "there (HTTP 404); OTEL_"; strings.Contains(errs, hint) != (name == "404") {
				t.Errorf("%s: %s", name, errs)
			}
			if warnings != 1 || strings.Contains(errs, "k3y") {
				t.Errorf("%d warnings:\n%s", warnings, errs)
			}
		})
	}
	if followed.Load() {
		t.Error("the target of a redirect received spans")
	}
}

// responseOf returns the lines of a result about what the run did.
func responseOf(result string) string {
	var out []string
	for line := range strings.Lines(result) {
		if strings.Contains(line, `"status"`) || strings.Contains(line, `"response"`) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}

// Telemetry that is off allocates nothing per session, and adds no sink. What an effect may
// allocate then is in TestStepAllocationsStayLow of builtins/node.
func TestTelemetryThatIsOffCostsNothing(t *testing.T) {
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER"} {
		t.Setenv(variable, "")
	}
	off := &telemetry{stderr: os.Stderr}
	p, in := &engine.Program{}, &engine.Input{RunID: "r"}
	allocations := testing.AllocsPerRun(100, func() {
		if sinks := off.sinks("home", p, in); sinks != nil {
			t.Fatal(sinks)
		}
	})
	if allocations > 0 {
		t.Errorf("%v allocations", allocations)
	}
}

// A server writes the failure to its log, once.
func TestServersLogCollectorsThatFail(t *testing.T) {
	t.Setenv("PEX_HOME", t.TempDir())
	for variable, want := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1": "connection refused", "OTEL_TRACES_EXPORTER=zipkin": "OTEL_TRACES_EXPORTER: unknown exporter",
	} {
		s := serveWith(t, []string{"../../specs/hello", "--log-format", "json"}, variable, "OTEL_BSP_EXPORT_TIMEOUT=100")
		s.send("POST", "/v1/agents/hello/runs", `{}`, nil)
		s.stop()
		log := s.output.String()
		if strings.Count(log, `"level":"WARN","msg":"traces or metrics are not exported"`) != 1 || !strings.Contains(log, want) || strings.Contains(log, "warning: ") {
			t.Errorf("%s:\n%s", variable, log)
		}
	}
}
