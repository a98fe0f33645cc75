package httpclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/httpclient"
)

// recordedWaits records the waits between attempts without waiting.
type recordedWaits []time.Duration

func (n *recordedWaits) sleep(_ context.Context, d time.Duration) error {
	*n = append(*n, d)
	return nil
}

// fetch returns a call that reads one address.
func fetch(c *httpclient.Client, url string, into *string) httpclient.Call {
	return send(c, url, "{}", into)
}

// send returns a call that posts a text to an address.
func send(c *httpclient.Client, url, text string, into *string) httpclient.Call {
	return httpclient.Call{Do: func(ctx context.Context) (int, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(text))
		if err != nil {
			return 0, err
		}
		resp, err := c.HTTP().Do(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		*into = string(b)
		return 0, err
	}}
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestCallRepeatsTemporaryFailures(t *testing.T) {
	tests := []struct {
		status   int
		attempts int
		kind     model.ErrorKind
	}{
		{400, 1, model.BadRequest},
		{401, 1, model.AuthError},
		{402, 1, model.AuthError},
		{403, 1, model.AuthError},
		{404, 1, model.NotFound},
		{408, 3, model.ServerError},
		{409, 3, model.ServerError},
		{413, 1, model.ContextTooLong},
		{422, 1, model.BadRequest},
		{425, 3, model.ServerError},
		{429, 3, model.RateLimited},
		{500, 3, model.ServerError},
		{501, 1, model.BadRequest},
		{502, 3, model.ServerError},
		{503, 3, model.Overloaded},
		{504, 3, model.ServerError},
		{529, 3, model.Overloaded},
	}
	for _, tt := range tests {
		for failures := 1; failures <= 3; failures++ {
			t.Run(fmt.Sprintf("%d fails %d times", tt.status, failures), func(t *testing.T) {
				var asked atomic.Int32
				url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					if int(asked.Add(1)) <= failures {
						w.Header().Set("X-Request-Id", "r1")
						w.WriteHeader(tt.status)
						fmt.Fprint(w, `{"error": {"message": "no luck"}}`)
						return
					}
					fmt.Fprint(w, "here")
				})
				var slept recordedWaits
				var got string
				c := httpclient.New(httpclient.Settings{Retry: retry.Policy{MaxAttempts: 3}, Sleep: slept.sleep})
				attempts, err := c.Call(t.Context(), fetch(c, url, &got))
				want := min(tt.attempts, failures+1)
				if attempts != want || int(asked.Load()) != want || len(slept) != want-1 {
					t.Errorf("attempts %d, requests %d, waits %d, want %d", attempts, asked.Load(), len(slept), want)
				}
				if failures < tt.attempts {
					if err != nil || got != "here" {
						t.Errorf("got %q, %v", got, err)
					}
					return
				}
				var e *httpclient.Error
				if !errors.As(err, &e) || e.Kind != tt.kind || e.Status != tt.status || e.Message != "no luck" || e.RequestID != "r1" {
					t.Errorf("error %#v", err)
				}
			})
		}
	}
}

func TestCallHonorsRetryAfter(t *testing.T) {
	tests := []struct {
		name, header, value string
		want                time.Duration
	}{
		{"seconds", "Retry-After", "7", 7 * time.Second},
		{"milliseconds", "Retry-After-Ms", "2500", 2500 * time.Millisecond},
		{"the longest of the policy", "Retry-After", "30", 30 * time.Second},
		{"not a number", "Retry-After", "NaN", time.Second},
		{"negative", "Retry-After", "-5", time.Second},
		{"a date in the past", "Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT", time.Second},
		{"garbage", "Retry-After", "soon", time.Second},
		{"less than the policy", "Retry-After", "0.1", time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set(tt.header, tt.value)
				w.WriteHeader(http.StatusTooManyRequests)
			})
			var slept recordedWaits
			var got string
			c := httpclient.New(httpclient.Settings{Retry: retry.Policy{MaxAttempts: 2, InitialDelay: time.Second}, Sleep: slept.sleep})
			_, err := c.Call(t.Context(), fetch(c, url, &got))
			if err == nil || len(slept) != 1 || slept[0] != tt.want {
				t.Errorf("waits %v, want %v (%v)", slept, tt.want, err)
			}
		})
	}
}

func TestCallFailsIfRetryAfterIsTooLong(t *testing.T) {
	tests := []struct {
		name, value string
		most, asked time.Duration
	}{
		{"the default", "31", 0, 31 * time.Second},
		{"the policy's own", "31", 5 * time.Second, 31 * time.Second},
		{"absurd", "1e9", time.Hour, httpclient.MaxRetryAfter},
		{"infinite", "Inf", 0, httpclient.MaxRetryAfter},
		{"a date far off", "Fri, 31 Dec 2100 23:59:59 GMT", 0, httpclient.MaxRetryAfter},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			requests := 0
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				requests++
				w.Header().Set("Retry-After", tt.value)
				w.WriteHeader(http.StatusTooManyRequests)
			})
			var slept recordedWaits
			var got string
			c := httpclient.New(httpclient.Settings{Retry: retry.Policy{MaxAttempts: 3, MaxDelay: tt.most}, Sleep: slept.sleep})
			_, err := c.Call(t.Context(), fetch(c, url, &got))
			var long *httpclient.LongWaitError
			var sent *httpclient.Error
			if !errors.As(err, &long) || long.Wait != tt.asked || !errors.As(err, &sent) || sent.Kind != model.RateLimited {
				t.Errorf("error %v", err)
			}
			if requests != 1 || len(slept) != 0 {
				t.Errorf("%d requests, waits %v", requests, slept)
			}
		})
	}
}

func TestCallFailsIfBreakerIsOpenTooLong(t *testing.T) {
	requests := 0
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		requests++
		w.Header().Set("Retry-After", "20")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	b := httpclient.NewBreaker()
	var got string
	patient := httpclient.New(httpclient.Settings{Retry: retry.Policy{MaxAttempts: 5}, Breaker: b, Sleep: new(recordedWaits).sleep})
	if _, err := patient.Call(t.Context(), fetch(patient, url, &got)); err == nil || requests != 5 {
		t.Fatalf("%d requests, %v", requests, err)
	}
	var slept recordedWaits
	c := httpclient.New(httpclient.Settings{Retry: retry.Policy{MaxAttempts: 3, MaxDelay: 5 * time.Second}, Breaker: b, Sleep: slept.sleep})
	if _, err := c.Call(t.Context(), fetch(c, url, &got)); !errors.Is(err, httpclient.ErrOpen) || requests != 5 || len(slept) != 0 {
		t.Errorf("%d requests, waits %v, %v", requests, slept, err)
	}
}

func TestDelayDoublesUpToMaximum(t *testing.T) {
	r := retry.Policy{InitialDelay: time.Second, MaxDelay: 5 * time.Second}
	var got []time.Duration
	for n := 1; n <= 5; n++ {
		got = append(got, r.Delay(n, 0, nil))
	}
	if want := "[1s 2s 4s 5s 5s]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	r.Jitter = true
	if d := r.Delay(3, 0, func() float64 { return 0.25 }); d != time.Second {
		t.Errorf("full jitter gives %v", d)
	}
	if d := (retry.Policy{}).Delay(1000, 0, nil); d != 30*time.Second {
		t.Errorf("the default ends at %v", d)
	}
}

func TestCallHonorsShouldRetryHeader(t *testing.T) {
	var asked atomic.Int32
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("X-Should-Retry", "false")
		w.WriteHeader(http.StatusInternalServerError)
	})
	var got string
	c := httpclient.New(httpclient.Settings{Retry: retry.Policy{MaxAttempts: 3}, Sleep: new(recordedWaits).sleep})
	if _, err := c.Call(t.Context(), fetch(c, url, &got)); err == nil || asked.Load() != 1 {
		t.Errorf("asked %d times, %v", asked.Load(), err)
	}
}

func TestCallFailsIfWaitExceedsDeadline(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "50")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var got string
	c := httpclient.New(httpclient.Settings{Retry: retry.Policy{MaxAttempts: 3}})
	_, err := c.Call(ctx, fetch(c, url, &got))
	var e *httpclient.Error
	if !errors.As(err, &e) || e.Kind != model.Overloaded || e.RetryAfter != 50*time.Second {
		t.Errorf("error %v", err)
	}
}

func TestCallRestoresLostErrorType(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	c := httpclient.New(httpclient.Settings{})
	var got string
	job := fetch(c, url, &got)
	inner := job.Do
	job.Do = func(ctx context.Context) (int, error) {
		_, err := inner(ctx)
		return 0, errors.New("call went wrong: " + err.Error())
	}
	_, err := c.Call(t.Context(), job)
	var e *httpclient.Error
	if !errors.As(err, &e) || e.Kind != model.RateLimited {
		t.Errorf("error %v", err)
	}
}

func TestCancelledCallReturnsContextError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in := make(chan struct{})
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(in)
		<-r.Context().Done()
	})
	go func() { <-in; cancel() }()
	var got string
	c := httpclient.New(httpclient.Settings{Retry: retry.Policy{MaxAttempts: 9}})
	n, err := c.Call(ctx, fetch(c, url, &got))
	if n != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("attempts %d, %v", n, err)
	}
}

func TestCancelDuringWaitEndsCall(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	ctx, cancel := context.WithCancel(t.Context())
	c := httpclient.New(httpclient.Settings{
		Retry: retry.Policy{MaxAttempts: 2, InitialDelay: time.Hour, MaxDelay: time.Hour},
		Sleep: func(ctx context.Context, _ time.Duration) error { cancel(); <-ctx.Done(); return ctx.Err() },
	})
	var got string
	_, err := c.Call(ctx, fetch(c, url, &got))
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "502") {
		t.Errorf("error %v", err)
	}
}
