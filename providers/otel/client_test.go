package otel_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/providers/otel"
)

// noMarks stores nothing, and counts the marks that would be there.
type noMarks map[string]bool

func (noMarks) Load(string) (m otel.Mark, found bool) { return m, false }
func (n noMarks) Store(run string, _ otel.Mark)       { n[run] = true }
func (n noMarks) Remove(run string)                   { delete(n, run) }

// A collector with a certificate of its own is trusted by OTEL_EXPORTER_OTLP_CERTIFICATE only.
func TestCollectorWithCertificate(t *testing.T) {
	var received atomic.Int32
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") == "a b" {
			received.Add(1)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b")
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	for _, trusted := range []string{"", file} {
		t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", trusted)
		warned := make(chan error, 10)
		tel, err := otel.Open(t.Context(), otel.Options{Getenv: os.Getenv, Warn: func(err error) { warned <- err }})
		if err != nil {
			t.Fatal(err)
		}
		p := &engine.Program{Name: "a"}
		sink := tel.Sinks(p, &engine.Input{RunID: "r"}, noMarks{})[0]
		for _, ev := range story(p) {
			sink.Send(ev)
		}
		if err := tel.Close(t.Context()); err != nil {
			t.Error(err)
		}
		var failed error
		if len(warned) > 0 {
			failed = <-warned
		}
		if (failed == nil) != (trusted != "") || failed != nil && !strings.Contains(failed.Error(), "certificate") {
			t.Errorf("%q: %v", trusted, failed)
		}
	}
	if received.Load() != 1 {
		t.Errorf("%d requests", received.Load())
	}
}

// A server whose collector rejects all spans does not collect the marks of ended runs.
func TestMarksOfEndedRunsAreBounded(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	t.Cleanup(s.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	t.Setenv("OTEL_BSP_EXPORT_TIMEOUT", "60000")
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	tel, err := otel.Open(t.Context(), otel.Options{Getenv: os.Getenv, Warn: func(error) {}})
	if err != nil {
		t.Fatal(err)
	}
	marks, p := noMarks{}, &engine.Program{Name: "a"}
	for i := range 10_000 {
		sink := tel.Sinks(p, &engine.Input{RunID: fmt.Sprint(i)}, marks)[0]
		for _, ev := range story(p) {
			sink.Send(ev)
		}
	}
	if len(marks) > 4096 {
		t.Errorf("%d marks", len(marks))
	}
	if err := tel.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if len(marks) > 0 {
		t.Errorf("%d marks after the end", len(marks))
	}
}
