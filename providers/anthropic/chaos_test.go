package anthropic_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/wire"
	"github.com/pexctl/pex/providers/anthropic"
)

const (
	chaosAnswer = "moss, in a chaos of servers"
	chaosChunk  = `data: {"type":"message_start","message":{"id":"m","type":"message","content":[]}}` + "\n\n" +
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"moss, in a chaos "}}` + "\n\n"
	chaosRest = `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"of servers"}}` + "\n\n" +
		`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}` + "\n\n"
	chaosEnd   = `data: {"type":"message_stop"}` + "\n\n"
	chaosWhole = `{"type":"message","content":[{"type":"text","text":"` + chaosAnswer + `"}],"stop_reason":"end_turn"}`
)

// trouble is one way in which a server may fail.
type trouble struct {
	name  string
	serve func(w http.ResponseWriter, r *http.Request, stream bool)
	kinds []engine.ErrorKind // what a call may end in when it goes on; none = the answer
}

func status(code int, header ...string) func(http.ResponseWriter, *http.Request, bool) {
	return func(w http.ResponseWriter, _ *http.Request, _ bool) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, `{"error":{"message":"chaos"}}`)
	}
}

func good(w http.ResponseWriter, _ *http.Request, stream bool) {
	w.Header().Set("Content-Type", kindOf(stream))
	if stream {
		_, _ = io.WriteString(w, chaosChunk+chaosRest+chaosEnd)
		return
	}
	_, _ = io.WriteString(w, chaosWhole)
}

func kindOf(stream bool) string {
	if stream {
		return "text/event-stream"
	}
	return "application/json"
}

// raw takes over the connection, writes a text and closes it.
func raw(text string) func(http.ResponseWriter, *http.Request, bool) {
	return func(w http.ResponseWriter, _ *http.Request, _ bool) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, text)
	}
}

func faults() []trouble { return append(refusals(), append(streams(), bodies()...)...) }

func refusals() []trouble {
	return []trouble{
		{"429", status(429, "Retry-After", "30"), []engine.ErrorKind{engine.RateLimited}},
		{"429 for ages", status(429, "Retry-After", "1000000000"), []engine.ErrorKind{engine.RateLimited}},
		{"500", status(500), []engine.ErrorKind{engine.ServerError}},
		{"529", status(529), []engine.ErrorKind{engine.Overloaded}},
		{"no HTTP", raw("\x00\x01\x02 what?\r\n\r\n"), []engine.ErrorKind{engine.NetworkError}},
		{"closed at once", raw(""), []engine.ErrorKind{engine.NetworkError}},
		{"header only", raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 900\r\n\r\n"), []engine.ErrorKind{engine.Truncated}},
	}
}

func streams() []trouble {
	return []trouble{
		{"slow drip", func(w http.ResponseWriter, r *http.Request, stream bool) {
			rec := httptest.NewRecorder()
			good(rec, r, stream)
			w.Header().Set("Content-Type", kindOf(stream))
			for _, b := range rec.Body.Bytes() {
				_, _ = w.Write([]byte{b})
				_ = http.NewResponseController(w).Flush()
			}
		}, nil},
		{"half a body", func(w http.ResponseWriter, _ *http.Request, stream bool) {
			w.Header().Set("Content-Type", kindOf(stream))
			_, _ = io.WriteString(w, map[bool]string{true: chaosChunk, false: chaosWhole[:40]}[stream])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, []engine.ErrorKind{engine.Truncated}},
		{"half a stream, well closed", func(w http.ResponseWriter, _ *http.Request, stream bool) {
			w.Header().Set("Content-Type", kindOf(stream))
			_, _ = io.WriteString(w, map[bool]string{true: chaosChunk, false: chaosWhole[:40]}[stream])
		}, []engine.ErrorKind{engine.Truncated, engine.BadReply}},
		{"error in the stream", func(w http.ResponseWriter, _ *http.Request, stream bool) {
			w.Header().Set("Content-Type", kindOf(stream))
			if stream {
				_, _ = io.WriteString(w, chaosChunk)
				_, _ = io.WriteString(w, "data: ")
			}
			_, _ = io.WriteString(w, `{"type":"error","error":{"message":"chaos","type":"api_error"}}`+"\n\n")
		}, []engine.ErrorKind{engine.ServerError}},
	}
}

func bodies() []trouble {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 4<<20))
	_ = z.Close()
	return []trouble{
		{"gzip bomb", func(w http.ResponseWriter, _ *http.Request, stream bool) {
			w.Header().Set("Content-Type", kindOf(stream))
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}, []engine.ErrorKind{engine.BadReply}},
		{"endless", func(w http.ResponseWriter, r *http.Request, stream bool) {
			w.Header().Set("Content-Type", kindOf(stream))
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(chaosChunk, 100)); err != nil {
					return
				}
			}
		}, []engine.ErrorKind{engine.BadReply}},
		{"garbage", func(w http.ResponseWriter, _ *http.Request, stream bool) {
			w.Header().Set("Content-Type", kindOf(stream))
			_, _ = io.WriteString(w, "data: {\"type\":[{\"delta\":{\"content\":\n\n")
		}, []engine.ErrorKind{engine.BadReply}},
	}
}

// chaos serves the fault that the request's text names: for "once" the first
// time only, for "always" each time.
type chaos struct {
	faults []trouble
	mu     sync.Mutex
	seen   map[string]int
}

func (c *chaos) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var b body
	if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
		panic(err)
	}
	var call, n int
	var how string
	if _, err := fmt.Sscanf(*b.Messages[0].Content[0].Text, "%d %d %s", &call, &n, &how); err != nil {
		panic(err)
	}
	c.mu.Lock()
	c.seen[*b.Messages[0].Content[0].Text]++
	first := c.seen[*b.Messages[0].Content[0].Text] == 1
	c.mu.Unlock()
	if first || how == "always" {
		c.faults[n].serve(w, r, b.Stream)
		return
	}
	good(w, r, b.Stream)
}

func TestChaosEndsInTheAnswerOrATypedError(t *testing.T) {
	const total = 420
	before := runtime.NumGoroutine()
	c := &chaos{faults: faults(), seen: map[string]int{}}
	s := httptest.NewServer(c)
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	var naps atomic.Int64
	config := defaults()
	m, err := anthropic.New(&config, engine.ModelSettings{BaseURL: s.URL, Retry: engine.RetryPolicy{MaxAttempts: 3}}, func(w *wire.Settings) {
		w.Base, w.MaxBody, w.MaxStream = transport, 256<<10, 256<<10
		w.Sleep = func(ctx context.Context, d time.Duration) error {
			naps.Store(max(naps.Load(), int64(d)))
			return ctx.Err()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	room := make(chan struct{}, 16)
	for i := range total {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			c.check(t, m, i)
		})
	}
	all.Wait()
	if longest := time.Duration(naps.Load()); longest != wire.MaxRetryAfter {
		t.Errorf("the longest wait was %v", longest)
	}
	transport.CloseIdleConnections()
	s.Close()
	settle(t, before)
}

func (c *chaos) check(t *testing.T, m engine.Model, i int) {
	f := c.faults[i%len(c.faults)]
	how := []string{"once", "always"}[i/len(c.faults)%2]
	var stream func(engine.Delta)
	if i/len(c.faults)%4 < 2 {
		stream = func(engine.Delta) {}
	}
	req := &engine.Request{Messages: []engine.Message{{Role: engine.User, Text: engine.Text{fmt.Sprintf("%d %d %s", i, i%len(c.faults), how)}}}}
	got, err := m.Generate(t.Context(), req, stream)
	var e *engine.ModelError
	switch {
	case err == nil && got.Text == chaosAnswer && (f.kinds == nil || how == "once"):
	case got == nil && errors.As(err, &e) && slices.Contains(f.kinds, e.Kind) && (how == "always" || !e.Retryable()):
	default:
		t.Errorf("%s %s, streamed %v: reply %+v, error %v", f.name, how, stream != nil, got, err)
	}
}

// settle waits until the goroutines of a test are gone.
func settle(t *testing.T, before int) {
	t.Helper()
	for range 1_000_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
}

func TestCancelAtAnyByteIsAnError(t *testing.T) {
	whole := recorded(t, "text.sse")
	silent := make(chan struct{})
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(whole[:n])
		_ = http.NewResponseController(w).Flush()
		silent <- struct{}{}
		<-r.Context().Done()
	}))
	defer s.Close()
	m := at(t, s.URL, defaults(), engine.ModelSettings{Retry: engine.RetryPolicy{MaxAttempts: 3}})
	for ; n < len(whole)-len("event: message_stop\n"+chaosEnd); n += 11 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-silent; cancel() }()
		if got, err := m.Generate(ctx, question, func(engine.Delta) {}); got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("at byte %d: reply %+v, error %v", n, got, err)
		}
		cancel()
	}
}
