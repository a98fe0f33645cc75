package openai_test

import (
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/pexctl/pex/server/api"
	"github.com/pexctl/pex/server/openai"
	"github.com/pexctl/pex/server/problem"
)

// BenchmarkLatency compares the time of a chat completion and a response with that of the same
// run by the API.
func BenchmarkLatency(b *testing.B) {
	w := newWorld(b, openai.Options{}, time.Hour)
	v1 := api.New(api.Options{Access: w.Access})
	for _, tt := range []struct {
		name, path, body string
		handler          http.Handler
	}{
		{"api", "/v1/agents/adds/runs", `{"question": "1 + 1?"}`, v1},
		{"chat", "/v1/chat/completions", `{"model": "adds", "messages": [{"role": "user", "content": "1 + 1?"}]}`, w.handler},
		{"chat-in-conversation", "/v1/chat/completions", `{"model": "adds", "metadata": {"memory_id": "chat"}, "messages": [{"role": "user", "content": "1 + 1?"}]}`, w.handler},
		{"stream", "/v1/chat/completions", `{"model": "adds", "stream": true, "messages": [{"role": "user", "content": "1 + 1?"}]}`, w.handler},
		{"response", "/v1/responses", `{"model": "adds", "input": "1 + 1?"}`, w.handler},
	} {
		b.Run(tt.name, func(b *testing.B) {
			var all []time.Duration
			for b.Loop() {
				began := time.Now()
				res := w.Do(tt.handler, problem.Form{}, "ann", http.MethodPost, tt.path, tt.body, http.Header{"Prefer": {"wait=60"}})
				_, _ = io.Copy(io.Discard, res.Body)
				all = append(all, time.Since(began))
				if res.Code != http.StatusOK {
					b.Fatal(res.Code)
				}
			}
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms-p50")
		})
	}
}
