package modelhttptest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
)

// Benchmark compares calls of a model with the same HTTP requests without it, to the same server.
func Benchmark(b *testing.B, s Provider) {
	var path string
	var header http.Header
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if body == nil {
			path, header, body = r.URL.RequestURI(), r.Header.Clone(), content
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, s.Reply)
	}))
	defer server.Close()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	m := s.model(b, server.URL, base)
	if got, err := generate(b.Context(), m, "ping"); err != nil || got.Text != answer { // the first call also records the request
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
			if _, err := generate(b.Context(), m, "ping"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Provider is a provider with a reply of its server.
type Provider struct {
	// Reply is the JSON body of a reply with the text "pong".
	Reply string
	// New builds a model as the provider's New does, with its default options.
	New func(model.Settings, func(*httpclient.Settings)) (model.Model, error)
}

const answer = "pong"

func (s Provider) model(tb testing.TB, url string, base http.RoundTripper) model.Model {
	tb.Helper()
	m, err := s.New(model.Settings{Model: "m", BaseURL: url, APIKey: "sk-test"}, func(w *httpclient.Settings) {
		w.Base, w.Breaker = base, nil // each test has its own server
	})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// generate makes one call of a model.
func generate(ctx context.Context, m model.Model, text string) (*model.Reply, error) {
	return m.Generate(ctx, &model.Request{
		Role: "planner", Call: 1, Key: "run/plan.1", Messages: []model.Message{
			{Role: model.System, Text: model.Text{"Answer ping with pong."}},
			{Role: model.User, Text: model.Text{text}},
		},
	}, nil)
}

// drain reads and closes a body.
func drain(r io.ReadCloser) (int64, error) {
	n, err := io.Copy(io.Discard, r)
	_ = r.Close()
	return n, err
}
