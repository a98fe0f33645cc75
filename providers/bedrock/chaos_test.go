package bedrock_test

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
	"github.com/pexctl/pex/providers/bedrock"
)

const (
	chaosAnswer = "moss, in a chaos of servers"
	chaosWhole  = `{"output":{"message":{"role":"assistant","content":[{"text":"` + chaosAnswer + `"}]}},"stopReason":"end_turn"}`
)

var (
	chaosChunk = delta(0, map[string]string{"text": "moss, in a chaos "})
	chaosRest  = slices.Concat(delta(0, map[string]string{"text": "of servers"}), event("messageStop", map[string]string{"stopReason": "end_turn"}))
)

// fault is one way in which a server may fail.
type fault struct {
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
		_, _ = io.WriteString(w, `{"message":"chaos"}`)
	}
}

func good(w http.ResponseWriter, _ *http.Request, stream bool) {
	w.Header().Set("Content-Type", kindOf(stream))
	if stream {
		_, _ = w.Write(slices.Concat(chaosChunk, chaosRest))
		return
	}
	_, _ = io.WriteString(w, chaosWhole)
}

func kindOf(stream bool) string {
	if stream {
		return streamKind
	}
	return "application/json"
}

// part is the beginning of an answer.
func part(stream bool) []byte {
	if stream {
		return chaosChunk
	}
	return []byte(chaosWhole[:40])
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

func faults() []fault { return append(refusals(), append(streams(), bodies()...)...) }

func refusals() []fault {
	return []fault{
		{"429", status(429, "Retry-After", "30"), []engine.ErrorKind{engine.RateLimited}},
		{"not ready", status(429, "X-Amzn-Errortype", "ModelNotReadyException"), []engine.ErrorKind{engine.Overloaded}},
		{"429 for ages", status(429, "Retry-After", "1000000000"), []engine.ErrorKind{engine.RateLimited}},
		{"500", status(500), []engine.ErrorKind{engine.ServerError}},
		{"503", status(503), []engine.ErrorKind{engine.Overloaded}},
		{"no HTTP", raw("\x00\x01\x02 what?\r\n\r\n"), []engine.ErrorKind{engine.NetworkError}},
		{"closed at once", raw(""), []engine.ErrorKind{engine.NetworkError}},
		{"header only", raw("HTTP/1.1 200 OK\r\nContent-Type: " + streamKind + "\r\nContent-Length: 900\r\n\r\n"), []engine.ErrorKind{engine.Truncated}},
	}
}

func streams() []fault {
	return []fault{
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
			_, _ = w.Write(part(stream))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, []engine.ErrorKind{engine.Truncated}},
		{"half a frame", func(w http.ResponseWriter, _ *http.Request, stream bool) {
			w.Header().Set("Content-Type", kindOf(stream))
			_, _ = w.Write(part(stream)[:20])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, []engine.ErrorKind{engine.Truncated}},
		{"half a stream, well closed", func(w http.ResponseWriter, _ *http.Request, stream bool) {
			w.Header().Set("Content-Type", kindOf(stream))
			_, _ = w.Write(part(stream))
		}, []engine.ErrorKind{engine.Truncated, engine.BadReply}},
		{"exception in the stream", func(w http.ResponseWriter, r *http.Request, stream bool) {
			if !stream {
				status(500)(w, r, stream)
				return
			}
			w.Header().Set("Content-Type", kindOf(stream))
			_, _ = w.Write(slices.Concat(chaosChunk, frame("exception", "internalServerException", map[string]string{"message": "chaos"})))
		}, []engine.ErrorKind{engine.ServerError}},
	}
}

func bodies() []fault {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(bytes.Repeat(chaosChunk, 5000))
	_ = z.Close()
	return []fault{
		{"gzip bomb", func(w http.ResponseWriter, _ *http.Request, stream bool) {
			w.Header().Set("Content-Type", kindOf(stream))
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}, []engine.ErrorKind{engine.BadReply}},
		{"endless", func(w http.ResponseWriter, r *http.Request, stream bool) {
			w.Header().Set("Content-Type", kindOf(stream))
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat(chaosChunk, 100)); err != nil {
					return
				}
			}
		}, []engine.ErrorKind{engine.BadReply}},
		{"garbage", func(w http.ResponseWriter, _ *http.Request, stream bool) {
			w.Header().Set("Content-Type", kindOf(stream))
			_, _ = io.WriteString(w, strings.Repeat("data: {\"output\":", 10))
		}, []engine.ErrorKind{engine.BadReply}},
	}
}

// chaos serves the fault that the request's text names: for "once" the first
// time only, for "always" each time.
type chaos struct {
	faults []fault
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
	text := *b.Messages[0].Content[0].Text
	if _, err := fmt.Sscanf(text, "%d %d %s", &call, &n, &how); err != nil {
		panic(err)
	}
	c.mu.Lock()
	c.seen[text]++
	first := c.seen[text] == 1
	c.mu.Unlock()
	streamed := strings.HasSuffix(r.URL.Path, "-stream")
	if first || how == "always" {
		c.faults[n].serve(w, r, streamed)
		return
	}
	good(w, r, streamed)
}

func TestChaosEndsInTheAnswerOrATypedError(t *testing.T) {
	before := runtime.NumGoroutine()
	c := &chaos{faults: faults(), seen: map[string]int{}}
	total := 24 * len(c.faults)
	s := httptest.NewServer(c)
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	var naps atomic.Int64
	config := defaults()
	m, err := bedrock.New(&config, engine.ModelSettings{Model: "m", BaseURL: s.URL, Retry: engine.RetryPolicy{MaxAttempts: 3}}, func(w *wire.Settings) {
		w.Base, w.MaxBody, w.MaxStream = transport, 64<<10, 64<<10
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
	req := &engine.Request{Messages: []engine.Message{say(engine.User, fmt.Sprintf("%d %d %s", i, i%len(c.faults), how))}}
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
	whole := recorded(t, "text.events")
	silent := make(chan struct{})
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", streamKind)
		_, _ = w.Write(whole[:n])
		_ = http.NewResponseController(w).Flush()
		silent <- struct{}{}
		<-r.Context().Done()
	}))
	defer s.Close()
	m := at(t, s.URL, defaults(), engine.ModelSettings{Retry: engine.RetryPolicy{MaxAttempts: 3}})
	for ; n < len(whole); n += 11 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-silent; cancel() }()
		if got, err := m.Generate(ctx, question, func(engine.Delta) {}); got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("at byte %d: reply %+v, error %v", n, got, err)
		}
		cancel()
	}
}

func TestCancelByTheReaderIsAnError(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", streamKind)
		for range 100 {
			_, _ = w.Write(chaosChunk)
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = w.Write(chaosRest)
	}))
	defer s.Close()
	m := at(t, s.URL, defaults(), engine.ModelSettings{})
	for n := 1; n < 100; n += 7 {
		ctx, cancel := context.WithCancel(t.Context())
		deltas := 0
		got, err := m.Generate(ctx, question, func(engine.Delta) {
			if deltas++; deltas == n {
				cancel()
			}
		})
		if got != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("at delta %d: reply %+v, error %v", n, got, err)
		}
		cancel()
	}
}
