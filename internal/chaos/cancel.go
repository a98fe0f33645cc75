package chaos

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/wire"
)

// Cancel ends calls after any number of bytes of a reply short of its end, in
// strides: of a stream, where the provider has them. Each ends as cancelled, with
// no reply.
func Cancel(t *testing.T, f Format, whole []byte, llm Maker) {
	t.Helper()
	var stream func(model.Delta)
	if f.Stream != nil {
		stream = func(model.Delta) {}
	}
	silent := make(chan struct{})
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", f.kind(stream != nil))
		_, _ = w.Write(whole[:n])
		_ = http.NewResponseController(w).Flush()
		silent <- struct{}{}
		<-r.Context().Done()
	}))
	defer s.Close()
	m, err := llm(model.Settings{Model: "m", BaseURL: s.URL, APIKey: "sk-of-a-chaos", Retry: model.RetryPolicy{MaxAttempts: attempts}},
		func(w *wire.Settings) { w.Sleep, w.Breaker = nap, nil })
	if err != nil {
		t.Fatal(err)
	}
	req := &model.Request{Messages: []model.Message{{Role: model.User, Text: model.Text{"How many?"}}}}
	for ; n < len(whole); n += 7 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-silent; cancel() }()
		if got, err := m.Generate(ctx, req, stream); got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("at byte %d: reply %+v, error %v", n, got, err)
		}
		cancel()
	}
}
