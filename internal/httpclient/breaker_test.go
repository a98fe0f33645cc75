package httpclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/httpclient"
)

// fakeServer is a fake server in a synctest bubble. It counts requests.
type fakeServer struct {
	mu     sync.Mutex
	asked  atomic.Int32
	header http.Header
	answer func(n int) (status int, after time.Duration)
}

func (p *fakeServer) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	n := p.asked.Add(1)
	status, after := p.answer(int(n))
	p.mu.Unlock()
	select {
	case <-time.After(after):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: status, Header: p.header, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
}

func always(status int) func(int) (int, time.Duration) {
	return func(int) (int, time.Duration) { return status, 0 }
}

// client returns a client of the fake server.
func (p *fakeServer) client(b *httpclient.Breaker, attempts int) *httpclient.Client {
	return httpclient.New(httpclient.Settings{Base: p, Breaker: b, Retry: retry.Policy{MaxAttempts: attempts, InitialDelay: time.Second}})
}

// ask makes one call. elsewhere sets HasFallback.
func ask(ctx context.Context, c *httpclient.Client, elsewhere bool) (attempts int, err error) {
	var got string
	job := fetch(c, "http://model.test/v1", &got)
	job.HasFallback = elsewhere
	return c.Call(ctx, job)
}

func TestBreakerOpensIfServerIsDown(t *testing.T) {
	tests := []struct {
		name  string
		serve func(int) (int, time.Duration)
		opens bool
	}{
		{"overloaded", always(503), true},
		{"overloaded, Anthropic's", always(529), true},
		{"server error", always(500), true},
		{"no connection", always(0), true},
		{"silence", func(int) (int, time.Duration) { return 200, time.Hour }, true},
		{"rate limit", always(429), false},
		{"wrong key", always(401), false},
		{"unknown model", always(404), false},
		{"conflict", always(409), false},
		{"bad request", always(400), false},
		{"answers", always(200), false},
		{"one answer in five", func(n int) (int, time.Duration) {
			if n%5 == 0 {
				return 200, 0
			}
			return 500, 0
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &fakeServer{answer: tt.serve}
				c := p.client(httpclient.NewBreaker(), 1)
				var last error
				for range 12 {
					_, last = ask(t.Context(), c, true)
				}
				if open := errors.Is(last, httpclient.ErrOpen); open != tt.opens || tt.opens && int(p.asked.Load()) != 5 || !tt.opens && int(p.asked.Load()) != 12 {
					t.Errorf("open %t after %d requests, want %t: %v", open, int(p.asked.Load()), tt.opens, last)
				}
			})
		})
	}
}

func TestOpenBreakerErrorHasReasonAndWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeServer{answer: always(503), header: http.Header{"Retry-After": {"30"}}}
		c := p.client(httpclient.NewBreaker(), 1)
		for range 5 {
			_, _ = ask(t.Context(), c, true)
		}
		time.Sleep(12 * time.Second)
		n, err := ask(t.Context(), c, true)
		var e *httpclient.Error
		if !errors.As(err, &e) || n != 0 || e.Kind != model.Overloaded || e.RetryAfter != 18*time.Second || !e.NotSent || !e.Final {
			t.Fatalf("attempts %d, %#v", n, err)
		}
		want := "not called: its server failed 5 times in a row, and the next trial call is in 18s; the last failure: HTTP 503: {}"
		if e.Message != want {
			t.Errorf("message %q\nwant    %q", e.Message, want)
		}
	})
}

func TestBreakerStaysOpenAsLongAsTheServerAsks(t *testing.T) {
	tests := []struct {
		asks string
		want time.Duration
	}{
		{"", time.Second},
		{"10", 10 * time.Second},
		{"45", 45 * time.Second},
		{"1e9", time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.asks, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &fakeServer{answer: always(503), header: http.Header{"Retry-After": {tt.asks}}}
				c := p.client(httpclient.NewBreaker(), 1)
				for range 5 {
					_, _ = ask(t.Context(), c, true)
				}
				time.Sleep(tt.want - time.Nanosecond)
				if _, err := ask(t.Context(), c, true); !errors.Is(err, httpclient.ErrOpen) {
					t.Errorf("no longer open: %v", err)
				}
				time.Sleep(2 * time.Nanosecond)
				if _, err := ask(t.Context(), c, true); errors.Is(err, httpclient.ErrOpen) || int(p.asked.Load()) != 6 {
					t.Errorf("asked %d times, %v", int(p.asked.Load()), err)
				}
			})
		})
	}
}

func TestManyCallsSendFewRequestsToDeadServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeServer{answer: func(int) (int, time.Duration) { return 503, time.Second }}
		b := httpclient.NewBreaker()
		begin := time.Now()
		var all sync.WaitGroup
		for i := range 64 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Second)
				if _, err := ask(t.Context(), p.client(b, 3), false); err == nil {
					t.Error("a response from a dead server")
				}
			})
		}
		all.Wait()
		// Sequential calls open the breaker; five failures double the wait; then one request every 31 s.
		spent := time.Since(begin)
		if most := 10 + 5 + int(spent/(31*time.Second)); int(p.asked.Load()) > most {
			t.Errorf("%d requests in %v, want at most %d", int(p.asked.Load()), spent, most)
		}
	})
}

func TestBreakerDoesNotEndCallsEarlier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeServer{answer: always(500)}
		b := httpclient.NewBreaker()
		for range 5 {
			_, _ = ask(t.Context(), p.client(nil, 1), true)
			_, _ = ask(t.Context(), p.client(b, 1), true)
		}
		asked := int(p.asked.Load())
		begin := time.Now()
		n, err := ask(t.Context(), p.client(b, 3), false)
		// three attempts, each a trial call, since there are no other calls
		if n != 3 || int(p.asked.Load()) != asked+3 || time.Since(begin) != (1+2+4)*time.Second {
			t.Errorf("attempts %d, requests %d, after %v: %v", n, int(p.asked.Load())-asked, time.Since(begin), err)
		}
		// the next trial call is in 8 s, longer than calls wait beyond their own delays
		asked, begin = int(p.asked.Load()), time.Now()
		n, err = ask(t.Context(), p.client(b, 2), false)
		if n != 0 || !errors.Is(err, httpclient.ErrOpen) || int(p.asked.Load()) != asked || time.Since(begin) != time.Second {
			t.Errorf("attempts %d, requests %d, after %v: %v", n, int(p.asked.Load())-asked, time.Since(begin), err)
		}
		// a call with a single attempt waits if the rest is short
		time.Sleep(3 * time.Second)
		p.answer = always(200)
		if n, err := ask(t.Context(), p.client(b, 1), false); n != 1 || err != nil || time.Since(begin) != 8*time.Second {
			t.Errorf("attempts %d: %v", n, err)
		}
	})
}

func TestLongTrialCallDoesNotBlockOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeServer{answer: always(500)}
		b := httpclient.NewBreaker()
		for range 5 {
			_, _ = ask(t.Context(), p.client(b, 1), true)
		}
		p.answer = always(200)
		c := p.client(b, 1)
		var all sync.WaitGroup
		all.Go(func() {
			var got string
			job := fetch(c, "http://model.test/v1", &got)
			do := job.Do
			job.Do = func(ctx context.Context) (int, error) {
				defer time.Sleep(time.Hour) // the response header has been sent
				return do(ctx)
			}
			if _, err := c.Call(t.Context(), job); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(2 * time.Second)
		begin := time.Now()
		if _, err := ask(t.Context(), c, true); err != nil || time.Since(begin) != 0 {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		all.Wait()
	})
}

func TestFailedTrialDoublesPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeServer{answer: always(500)}
		c := p.client(httpclient.NewBreaker(), 1)
		for range 5 {
			_, _ = ask(t.Context(), c, true)
		}
		pauses := func(want ...time.Duration) { // until a request is sent
			t.Helper()
			for _, d := range want {
				begin, asked := time.Now(), p.asked.Load()
				for _, _ = ask(t.Context(), c, true); p.asked.Load() == asked; _, _ = ask(t.Context(), c, true) {
					time.Sleep(time.Second)
				}
				if got := time.Since(begin); got != d*time.Second {
					t.Errorf("waited %v, want %v", got, d*time.Second)
				}
			}
		}
		pauses(1, 2, 4, 8, 16, 30, 30)
		p.answer = always(200)
		pauses(30, 0)
		p.answer = always(500)
		pauses(0, 0, 0, 0, 0, 1, 2)
	})
}

func TestResultOfTrialAppliesToAll(t *testing.T) {
	for _, status := range []int{200, 500} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &fakeServer{answer: always(500)}
				b := httpclient.NewBreaker()
				for range 5 {
					_, _ = ask(t.Context(), p.client(b, 1), true)
				}
				p.answer = func(n int) (int, time.Duration) { return status, 10 * time.Second }
				begin := time.Now()
				var all sync.WaitGroup
				var mu sync.Mutex
				answered, shared := 0, 0
				for range 20 {
					all.Go(func() {
						_, err := ask(t.Context(), p.client(b, 1), false)
						mu.Lock()
						defer mu.Unlock()
						switch {
						case err == nil:
							answered++
						case errors.Is(err, httpclient.ErrOpen):
							shared++
						}
					})
				}
				time.Sleep(6 * time.Second)
				synctest.Wait()
				if int(p.asked.Load()) != 6 {
					t.Errorf("%d requests during the trial", int(p.asked.Load())-5)
				}
				all.Wait()
				switch {
				case status == 200 && (answered != 20 || int(p.asked.Load()) != 25 || time.Since(begin) != 21*time.Second):
					t.Errorf("answered %d, requests %d, after %v", answered, int(p.asked.Load()), time.Since(begin))
				case status == 500 && (shared != 19 || int(p.asked.Load()) != 6 || time.Since(begin) != 11*time.Second):
					t.Errorf("shared %d, requests %d, after %v", shared, int(p.asked.Load()), time.Since(begin))
				}
			})
		})
	}
}

func TestCancelledTrialIsFollowedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeServer{answer: always(500)}
		b := httpclient.NewBreaker()
		for range 5 {
			_, _ = ask(t.Context(), p.client(b, 1), true)
		}
		time.Sleep(31 * time.Second)
		p.answer = func(n int) (int, time.Duration) {
			if n == 6 {
				return 200, time.Hour
			}
			return 200, 0
		}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := ask(ctx, p.client(b, 1), false); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
		})
		synctest.Wait()
		if _, err := ask(t.Context(), p.client(b, 1), true); !errors.Is(err, httpclient.ErrOpen) || !strings.Contains(err.Error(), "a trial call is in progress") {
			t.Errorf("during the trial: %v", err)
		}
		all.Go(func() {
			if _, err := ask(t.Context(), p.client(b, 1), false); err != nil {
				t.Errorf("next: %v", err)
			}
		})
		synctest.Wait()
		cancel()
		all.Wait()
	})
}

func TestWaitAtBreakerEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeServer{answer: always(503), header: http.Header{"Retry-After": {"30"}}}
		b := httpclient.NewBreaker()
		for range 5 {
			_, _ = ask(t.Context(), p.client(b, 1), true)
		}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if _, err := ask(ctx, p.client(b, 3), false); !errors.Is(err, httpclient.ErrOpen) || time.Since(begin) != 0 {
			t.Errorf("before a deadline that is nearer: after %v, %v", time.Since(begin), err)
		}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(7*time.Second, stop)
		if _, err := ask(ctx, p.client(b, 3), false); !errors.Is(err, context.Canceled) || time.Since(begin) != 7*time.Second {
			t.Errorf("cancelled: after %v, %v", time.Since(begin), err)
		}
	})
}

func TestBreakerIsCheckedAfterRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeServer{answer: func(int) (int, time.Duration) { return 500, time.Second }}
		b := httpclient.NewBreaker()
		one := httpclient.NewLimiter(httpclient.Limits{MaxConcurrent: 1, RequestsPerMinute: 20})
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				c := httpclient.New(httpclient.Settings{Base: p, Breaker: b, Limiter: one})
				_, _ = ask(t.Context(), c, true)
			})
		}
		all.Wait()
		if int(p.asked.Load()) != 5 {
			t.Errorf("%d requests, want 5", int(p.asked.Load()))
		}
	})
}

func TestBreakerIsSharedByServerAndModel(t *testing.T) {
	a, b := httpclient.SharedBreaker("http://breaker.test m"), httpclient.SharedBreaker("http://breaker.test n")
	if a != httpclient.SharedBreaker("http://breaker.test m") || a == b {
		t.Error("breakers must be shared by model")
	}
}
