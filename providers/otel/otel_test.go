package otel_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/providers/otel"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// What cannot be used is an error that names the variable, and never its value.
func TestInvalidSettings(t *testing.T) {
	const endpoint, address = "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"
	for _, tt := range []struct {
		name  string
		pairs []string
		want  string
	}{
		{"grpc", []string{endpoint, address, "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, "OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not supported; use http/protobuf, and the collector's port for it (usually 4318, not 4317)"},
		{"protocol of traces", []string{endpoint, address, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"}, `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: unknown protocol "http/json"; use http/protobuf`},
		{"exporter", []string{"OTEL_TRACES_EXPORTER", "zipkin"}, `OTEL_TRACES_EXPORTER: unknown exporter "zipkin"; use otlp or none`},
		{"endpoint without scheme", []string{endpoint, "localhost:4318"}, "OTEL_EXPORTER_OTLP_ENDPOINT: not an http or https address, such as http://localhost:4318"},
		{"password in the endpoint", []string{endpoint, "http://u:secret@localhost"}, "OTEL_EXPORTER_OTLP_ENDPOINT: the address contains credentials; use OTEL_EXPORTER_OTLP_HEADERS"},
		{"injected header", []string{endpoint, address, "OTEL_EXPORTER_OTLP_HEADERS", "a=secret%0d%0ab: c"}, `OTEL_EXPORTER_OTLP_HEADERS: the pair for "a" is not valid`},
		{"header of the exporter", []string{endpoint, address, "OTEL_EXPORTER_OTLP_HEADERS", "content-length=5"}, `OTEL_EXPORTER_OTLP_HEADERS: the pair for "content-length" is not valid`},
		{"raw line break in a header", []string{endpoint, address, "OTEL_EXPORTER_OTLP_HEADERS", "a=b\r\nsecret: c"}, `OTEL_EXPORTER_OTLP_HEADERS: the pair for "a" is not valid`},
		{"line break in the name of a header", []string{endpoint, address, "OTEL_EXPORTER_OTLP_HEADERS", "a\nb=secret"}, `OTEL_EXPORTER_OTLP_HEADERS: the pair for "a\nb" is not valid`},
		{"header of the connection", []string{endpoint, address, "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "Transfer-Encoding=secret"}, `OTEL_EXPORTER_OTLP_TRACES_HEADERS: the pair for "Transfer-Encoding" is not valid`},
		{"bad percent-encoding", []string{endpoint, address, "OTEL_EXPORTER_OTLP_HEADERS", "a=%zzsecret"}, `OTEL_EXPORTER_OTLP_HEADERS: the pair for "a" is not valid`},
		{"key without certificate", []string{endpoint, address, "OTEL_EXPORTER_OTLP_CLIENT_KEY", "/nonexistent/key.pem"}, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: open"},
		{"header without value", []string{endpoint, address, "OTEL_EXPORTER_OTLP_HEADERS", "secret"}, `OTEL_EXPORTER_OTLP_HEADERS: the pair for "secret" is not valid`},
		{"timeout", []string{endpoint, address, "OTEL_EXPORTER_OTLP_TIMEOUT", "10s"}, "OTEL_EXPORTER_OTLP_TIMEOUT: not a whole number above 0"},
		{"compression", []string{endpoint, address, "OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"}, `OTEL_EXPORTER_OTLP_COMPRESSION: unknown compression "zstd"; use gzip or none`},
		{"no certificate", []string{endpoint, address, "OTEL_EXPORTER_OTLP_CERTIFICATE", "/nonexistent/ca.pem"}, "OTEL_EXPORTER_OTLP_CERTIFICATE: open /nonexistent/ca.pem"},
		{"sampler", []string{endpoint, address, "OTEL_TRACES_SAMPLER", "sometimes"}, `OTEL_TRACES_SAMPLER: unknown sampler "sometimes"`},
		{"ratio", []string{endpoint, address, "OTEL_TRACES_SAMPLER", "traceidratio", "OTEL_TRACES_SAMPLER_ARG", "NaN"}, "OTEL_TRACES_SAMPLER_ARG: not a number from 0 to 1"},
		{"queue", []string{endpoint, address, "OTEL_BSP_MAX_QUEUE_SIZE", "-1"}, "OTEL_BSP_MAX_QUEUE_SIZE: not a whole number above 0"},
		{"exporter of metrics", []string{"OTEL_METRICS_EXPORTER", "prometheus"}, `OTEL_METRICS_EXPORTER: unknown exporter "prometheus"; use otlp or none`},
		{"protocol of metrics", []string{endpoint, address, "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc"}, "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: grpc is not supported"},
		{"header of metrics", []string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", address, "OTEL_EXPORTER_OTLP_METRICS_HEADERS", "a=secret%0d%0ab: c"}, `OTEL_EXPORTER_OTLP_METRICS_HEADERS: the pair for "a" is not valid`},
		{"interval", []string{endpoint, address, "OTEL_METRIC_EXPORT_INTERVAL", "1m"}, "OTEL_METRIC_EXPORT_INTERVAL: not a whole number above 0"},
		{"temporality", []string{endpoint, address, "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "both"}, `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: unknown value "both"; use cumulative or delta or lowmemory`},
		{"aggregation", []string{endpoint, address, "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "x"}, `unknown value "x"; use explicit_bucket_histogram or base2`},
		{"resource", []string{endpoint, address, "OTEL_RESOURCE_ATTRIBUTES", "a"}, `OTEL_RESOURCE_ATTRIBUTES: the pair for "a" is not valid`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tel, err := otel.Open(t.Context(), otel.Options{Getenv: environment(tt.pairs...)})
			if tel != nil || err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(strings.ReplaceAll(err.Error(), `"secret"`, ""), "secret") {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// Nothing is exported unless the environment asks for it.
func TestOffByDefault(t *testing.T) {
	for _, pairs := range [][]string{
		nil,
		{"OTEL_SERVICE_NAME", "x", "OTEL_TRACES_SAMPLER", "nonsense"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1", "OTEL_SDK_DISABLED", "true"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER", "none", "OTEL_METRICS_EXPORTER", "none"},
	} {
		tel, err := otel.Open(t.Context(), otel.Options{Getenv: environment(pairs...)})
		if tel != nil || err != nil {
			t.Errorf("%q: %v %v", pairs, tel, err)
		}
		if sinks := tel.Sinks(&engine.Program{}, &engine.Input{}, nil); sinks != nil || tel.Close(t.Context()) != nil {
			t.Errorf("%q: %v", pairs, sinks)
		}
	}
}

// story are the events of a small run.
func story(p *engine.Program) []engine.Event {
	at := time.Unix(1_700_000_000, 0)
	event := func(seq int, typ engine.EventType) engine.Event {
		return engine.Event{Seq: seq, Type: typ, At: at.Add(time.Duration(seq) * time.Second), Program: p}
	}
	events := []engine.Event{event(1, engine.RunStarted), event(2, engine.ModelStarted), event(3, engine.ModelCompleted), event(4, engine.RunCompleted)}
	for i := 1; i <= 2; i++ {
		events[i].Path, events[i].Role, events[i].Model = "final.1/model", "finalizer", "main"
	}
	events[3].Status, events[3].Stop = string(stop.RunCompleted), &stop.Reason{Code: stop.Answered}
	return events
}

// A session exports what earlier ones did not, by the mark that they left.
func TestSpansOfKilledSessions(t *testing.T) {
	p := &engine.Program{Name: "a"}
	for killed := range 5 {
		exported := tracetest.NewInMemoryExporter()
		tel, err := otel.Open(t.Context(), otel.Options{Getenv: environment(), Exporter: exported})
		if err != nil {
			t.Fatal(err)
		}
		marks := otel.FileMarks{Dir: filepath.Join(t.TempDir(), "marks")}
		in := &engine.Input{RunID: "r"}
		send := func(replayed int, events []engine.Event) {
			sink := tel.Sinks(p, in, marks)[0]
			for i, ev := range events {
				if i < replayed {
					sink.(engine.ReplaySink).Replay(ev)
				} else {
					sink.Send(ev)
				}
			}
		}
		all := story(p)
		send(0, all[:killed])
		if killed < len(all) {
			send(killed, all)
		}
		counts := map[string]int{}
		for _, s := range exported.GetSpans() {
			counts[s.Name]++
		}
		if counts["invoke_agent a"] != 1 || counts["chat main"] != 1 {
			t.Errorf("killed after event %d: %v", killed, counts)
		}
		if _, found := marks.Load("r"); found {
			t.Errorf("killed after event %d: a mark is left of a run that has ended", killed)
		}
		if err := tel.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A run continues the trace of its caller, and is sampled as the caller is.
func TestTraceOfTheCaller(t *testing.T) {
	const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-"
	p := &engine.Program{Name: "a"}
	for flags, want := range map[string]int{"01": 2, "00": 0} {
		exported := tracetest.NewInMemoryExporter()
		tel, err := otel.Open(t.Context(), otel.Options{Getenv: environment(), Exporter: exported})
		if err != nil {
			t.Fatal(err)
		}
		for _, sink := range tel.Sinks(p, &engine.Input{RunID: "r", Trace: caller + flags}, otel.FileMarks{Dir: t.TempDir()}) {
			for _, ev := range story(p) {
				sink.Send(ev)
			}
		}
		n := 0
		for _, s := range exported.GetSpans() {
			if s.SpanContext.TraceID().String() != caller[3:35] {
				t.Errorf("%s is in trace %s", s.Name, s.SpanContext.TraceID())
			}
			if s.Name == "invoke_agent a" && s.Parent.SpanID().String() != caller[36:52] {
				t.Errorf("its parent is %s", s.Parent.SpanID())
			}
			if s.Name != "pex.session" {
				n++
			}
		}
		if n != want {
			t.Errorf("flags %s: %d spans", flags, n)
		}
	}
}

// A run that ended, was continued with a higher limit and then killed exports each span once.
func TestSpansOfKilledContinuations(t *testing.T) {
	p := &engine.Program{Name: "a"}
	ended := story(p)
	raised := story(p)[1:]
	for i := range raised {
		raised[i].Seq, raised[i].Rewinds = i+4, 1
		if raised[i].Path != "" {
			raised[i].Path = "final.2/model"
		}
	}
	exported := tracetest.NewInMemoryExporter()
	tel, err := otel.Open(t.Context(), otel.Options{Getenv: environment(), Exporter: exported})
	if err != nil {
		t.Fatal(err)
	}
	marks := otel.FileMarks{Dir: filepath.Join(t.TempDir(), "marks")}
	session := func(replayed, live []engine.Event) {
		sink := tel.Sinks(p, &engine.Input{RunID: "r"}, marks)[0]
		for _, ev := range replayed {
			sink.(engine.ReplaySink).Replay(ev)
		}
		for _, ev := range live {
			sink.Send(ev)
		}
	}
	before := ended[:3]
	session(nil, ended)
	session(before, nil)
	session(before, raised[:1])
	session(append(slices.Clone(before), raised[0]), raised[1:])
	counts := map[string]int{}
	for _, s := range exported.GetSpans() {
		if s.Name != "pex.session" {
			counts[s.Name+" "+s.SpanContext.SpanID().String()]++
		}
	}
	for name, n := range counts {
		if n != 1 {
			t.Errorf("%s was exported %d times", name, n)
		}
	}
	if len(counts) != 4 {
		t.Errorf("%v", counts)
	}
	if err := tel.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
