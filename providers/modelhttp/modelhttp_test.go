package modelhttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

// roundTripper answers every request with a status; 0 = the connection fails.
type roundTripper struct {
	status   atomic.Int32
	requests atomic.Int32
}

func (s *roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests.Add(1)
	if s.status.Load() == statusLost {
		httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	}
	if s.status.Load() <= 0 {
		return nil, errors.New("connection reset by peer")
	}
	body := io.NopCloser(strings.NewReader(`{"error": {"message": "no luck"}}`))
	return &http.Response{StatusCode: int(s.status.Load()), Header: http.Header{}, Body: body, Request: r}, nil
}

// statusLost is the status for a connection that breaks after the request was sent.
const statusLost = -1

// client returns a client of the round tripper.
func (s *roundTripper) client(t *testing.T, attempts int) *modelhttp.Client {
	t.Helper()
	set := model.Settings{Model: "m", Retry: retry.Policy{MaxAttempts: attempts, InitialDelay: time.Second}}
	w, err := modelhttp.Connect(set, "http://model.test", nil, func(w *httpclient.Settings) { w.Base, w.Breaker = s, httpclient.NewBreaker() })
	if err != nil {
		t.Fatal(err)
	}
	return &modelhttp.Client{HTTP: w, Model: "m", Type: typeError}
}

func typeError(err error) *model.Error {
	if sent, ok := errors.AsType[*httpclient.Error](err); ok {
		return modelhttp.TransportError(sent)
	}
	return nil
}

// generate makes a call and returns its error.
func generate(ctx context.Context, c *modelhttp.Client, req model.Request) *model.Error {
	_, err := c.Reply(ctx, &req, func(ctx context.Context) (*model.Reply, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://model.test/v1", strings.NewReader("{}"))
		if err != nil {
			return nil, err
		}
		resp, err := c.HTTP.HTTP().Do(r)
		if err != nil {
			return nil, err
		}
		return &model.Reply{Text: "here"}, resp.Body.Close()
	})
	known, _ := errors.AsType[*model.Error](err)
	return known
}

func TestOpenBreakerFailsFastWithFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s roundTripper
		s.status.Store(503)
		c := s.client(t, 9)
		req := model.Request{Fallback: true}
		e := generate(t.Context(), c, req)
		if e == nil || e.Kind != model.Overloaded || !e.NotSent || e.Attempts != 5 || s.requests.Load() != 5 {
			t.Fatalf("%d requests: %#v", s.requests.Load(), e)
		}
		begin := time.Now()
		e = generate(t.Context(), c, req)
		if e == nil || e.RetryAfter <= 0 || !strings.Contains(e.Message, "failed 5 times in a row") || !strings.Contains(e.Message, "HTTP 503: no luck") ||
			time.Since(begin) != 0 || s.requests.Load() != 5 {
			t.Errorf("after %v, %d requests: %#v", time.Since(begin), s.requests.Load(), e)
		}
	})
}

func TestOpenBreakerWaitsWithoutFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s roundTripper
		s.status.Store(500)
		c := s.client(t, 5)
		_ = generate(t.Context(), c, model.Request{})
		s.status.Store(200)
		begin := time.Now()
		if e := generate(t.Context(), c, model.Request{}); e != nil || time.Since(begin) != time.Second {
			t.Errorf("after %v: %v", time.Since(begin), e)
		}
	})
}

func TestRetriesOfARunAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s roundTripper
		s.status.Store(429)
		c := s.client(t, 4)
		ctx := model.WithRetries(t.Context(), &model.Retries{})
		for range 3 { // 9 retries
			if e := generate(ctx, c, model.Request{}); e.Attempts != 4 {
				t.Fatalf("attempts %d", e.Attempts)
			}
		}
		e := generate(ctx, c, model.Request{})
		if e.Attempts != 2 || e.Kind != model.RateLimited || !strings.HasPrefix(e.Message, "no luck; not retried: ") {
			t.Errorf("attempts %d: %v", e.Attempts, e)
		}
		if e := generate(ctx, c, model.Request{}); e.Attempts != 1 {
			t.Errorf("attempts %d: %v", e.Attempts, e)
		}
		if e := generate(t.Context(), c, model.Request{}); e.Attempts != 4 {
			t.Errorf("without a run: attempts %d", e.Attempts)
		}
	})
}

func TestBillableAttemptsAreNotRetriedWhenMetered(t *testing.T) {
	tests := []struct {
		name   string
		status int32
		want   int
	}{
		{"connection lost", statusLost, 1},
		{"not connected", 0, 3},
		{"refused", 500, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s roundTripper
				s.status.Store(tt.status)
				if e := generate(t.Context(), s.client(t, 3), model.Request{Metered: true}); e.Attempts != tt.want || e.NotSent != (tt.status == 0) {
					t.Errorf("metered: attempts %d, want %d: %#v", e.Attempts, tt.want, e)
				}
				if e := generate(t.Context(), s.client(t, 3), model.Request{}); e.Attempts != 3 {
					t.Errorf("not metered: attempts %d", e.Attempts)
				}
			})
		})
	}
}

func TestConnectRedactsSecrets(t *testing.T) {
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "key-of-mine, pass-word, third-one, harmless")
	}))
	t.Cleanup(echo.Close)
	w, err := modelhttp.Connect(model.Settings{APIKey: "key-of-mine"}, "http://me:pass-word@model.test", []string{"third-one"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.HTTP().Get(echo.URL)
	if err == nil || !strings.HasSuffix(err.Error(), "[redacted], [redacted], [redacted], harmless") {
		t.Error(err)
	}
}

func TestConnectNamesTheBadFile(t *testing.T) {
	_, err := modelhttp.Connect(model.Settings{Certificates: model.Certificates{CAFile: "no/such.pem"}}, "http://model.test", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "PEX_CA_FILE: open no/such.pem") {
		t.Error(err)
	}
}

func TestPriorAttemptsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s roundTripper
		s.status.Store(500)
		c := s.client(t, 4)
		begin := time.Now()
		e := generate(t.Context(), c, model.Request{PriorAttempts: 2})
		if e.Attempts != 2 || s.requests.Load() != 2 || time.Since(begin) != 4*time.Second {
			t.Errorf("after %v, %d requests: %#v", time.Since(begin), s.requests.Load(), e)
		}
	})
}

// A timeout is a setting of one LLM. The breaker must not open for callers with a longer one.
func TestShortTimeoutDoesNotBlockOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(r *http.Request) (*http.Response, error) {
			select {
			case <-time.After(5 * time.Second):
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		}
		clientWith := func(timeout time.Duration) *modelhttp.Client {
			w, err := modelhttp.Connect(model.Settings{Model: "slow", Timeout: timeout}, "http://slow.test", nil, func(w *httpclient.Settings) { w.Base = roundTrip(slow) })
			if err != nil {
				t.Fatal(err)
			}
			return &modelhttp.Client{HTTP: w, Model: "slow", Type: typeError}
		}
		for range 6 {
			_ = generate(t.Context(), clientWith(time.Second), model.Request{Fallback: true})
		}
		if e := generate(t.Context(), clientWith(time.Minute), model.Request{Fallback: true}); e != nil {
			t.Error(e)
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestMeteredRequestsAreNotResent(t *testing.T) {
	for _, metered := range []bool{false, true} {
		var requests atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if requests.Add(1) == 2 { // the connection ends after the request was read
				conn, _, err := w.(http.Hijacker).Hijack()
				if err == nil {
					_ = conn.Close()
				}
			}
		}))
		base := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		}}
		w, err := modelhttp.Connect(model.Settings{Model: "m"}, "http://model.test", nil, func(w *httpclient.Settings) { w.Base, w.Breaker = base, nil })
		if err != nil {
			t.Fatal(err)
		}
		c := &modelhttp.Client{HTTP: w, Model: "m", Type: typeError}
		_ = generate(t.Context(), c, model.Request{Metered: metered})
		e := generate(t.Context(), c, model.Request{Metered: metered})
		if want := map[bool]int32{false: 3, true: 2}[metered]; requests.Load() != want || (e != nil) != metered || metered && !e.MaybeBilled() {
			t.Errorf("metered %t: %d requests, want %d: %v", metered, requests.Load(), want, e)
		}
		base.CloseIdleConnections()
		server.Close()
	}
}

func TestWaitsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s roundTripper
		s.status.Store(500)
		c := s.client(t, 6)
		var waits []model.RetryEvent
		ctx := model.WithRetryNotice(t.Context(), func(e model.RetryEvent) { waits = append(waits, e) })
		begin := time.Now()
		_ = generate(ctx, c, model.Request{})
		var total int64
		for i, w := range waits {
			total += w.Wait
			if w.Attempt != i+2 || w.MaxAttempts != 6 || i < 4 && w.Error != "server_error (HTTP 500): no luck" {
				t.Errorf("%+v", w)
			}
		}
		if len(waits) != 5 || time.Since(begin).Milliseconds() != total {
			t.Errorf("waited %s: %+v", time.Since(begin), waits)
		}

		waits, begin = nil, time.Now()
		s.status.Store(200)
		if e := generate(ctx, c, model.Request{PriorAttempts: 2}); e != nil {
			t.Fatal(e)
		}
		if len(waits) != 1 || waits[0].Attempt != 3 || waits[0].Wait != time.Since(begin).Milliseconds() ||
			!strings.HasPrefix(waits[0].Error, "server_error: not called: its server failed 6 times in a row") {
			t.Errorf("with an open breaker, after %s: %+v", time.Since(begin), waits)
		}
	})
}

func TestMissingUsageAndTruncatedInputAreReported(t *testing.T) {
	long := strings.Repeat("The 27 invoices of March are late. ", 400)
	prompt := func(text ...string) model.Request {
		return model.Request{
			Messages: []model.Message{{Role: model.User, Text: text}},
			Tools:    []model.ToolDef{{Name: "x", Input: json.RawMessage(`{"d":"` + long + `"}`)}},
		}
	}
	tests := []struct {
		name      string
		req       model.Request
		reply     model.Reply
		uncounted bool
		sent      int
	}{
		{"all counted", prompt(long), model.Reply{Stop: model.EndTurn, Usage: model.Tokens{Input: 3000}}, false, 0},
		{"nothing counted", prompt(long), model.Reply{Stop: model.EndTurn, Usage: model.Tokens{Input: 9}, Estimated: true}, true, 0},
		{"blocked", prompt(long), model.Reply{Stop: model.ContentFiltered, Estimated: true}, false, 0},
		{"truncated by the server", prompt(long), model.Reply{Stop: model.EndTurn, Usage: model.Tokens{Input: 1024}}, false, 3500},
		{"in segments", prompt(strings.SplitAfter(strings.Repeat("a bookkeeper ", 1000), "k")...), model.Reply{Stop: model.EndTurn, Usage: model.Tokens{Input: 1024}}, false, 2500},
		{"short", prompt("hi"), model.Reply{Stop: model.EndTurn, Usage: model.Tokens{Input: 1}}, false, 0},
		{"long tokens", prompt(strings.Repeat("=", 9000) + strings.Repeat(" \n", 9000)), model.Reply{Stop: model.EndTurn, Usage: model.Tokens{Input: 200}}, false, 0},
	}
	var s roundTripper
	s.status.Store(200)
	c := s.client(t, 1)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := c.Reply(t.Context(), &tt.req, func(context.Context) (*model.Reply, error) {
				r := tt.reply
				return &r, nil
			})
			if err != nil || got.Uncounted != tt.uncounted || got.Sent != tt.sent {
				t.Errorf("uncounted %v, sent %d: %v", got.Uncounted, got.Sent, err)
			}
		})
	}
}
