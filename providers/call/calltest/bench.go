package calltest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Benchmark compares calls of a model with the same requests sent bare, to the
// same server.
func Benchmark(b *testing.B, s Site) {
	var path string
	var header http.Header
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if body == nil {
			path, header, body = r.URL.RequestURI(), r.Header.Clone(), sent
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, s.Reply)
	}))
	defer server.Close()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	m := s.model(b, server.URL, base)
	if got, err := ask(b.Context(), m, "ping"); err != nil || got.Text != answer { // which also shows what is sent
		b.Fatal(got, err)
	}
	b.Run("bare", func(b *testing.B) {
		client := &http.Client{Transport: base}
		b.ReportAllocs()
		for b.Loop() {
			req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL+path, bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			req.Header = header.Clone()
			resp, err := client.Do(req)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := drain(resp.Body); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("model", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ask(b.Context(), m, "ping"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
