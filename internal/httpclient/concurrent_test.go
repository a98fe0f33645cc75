package httpclient_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/httpclient"
)

// However many concurrent calls end, none hangs, and they succeed once the server works.
func TestConcurrentCallsNeverBlockBreaker(t *testing.T) {
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0)) // used under the plant's lock
			statuses := []int{0, 0, 500, 503, 503, 429, 401, 400, 200}
			p := &fakeServer{answer: func(int) (int, time.Duration) {
				return statuses[random.IntN(len(statuses))], time.Duration(random.IntN(3000)) * time.Millisecond
			}}
			b, limits := httpclient.NewBreaker(), httpclient.NewLimiter(httpclient.Limits{MaxConcurrent: 8, RequestsPerMinute: 500})
			c := httpclient.New(httpclient.Settings{
				Base: p, Breaker: b, Limiter: limits, FirstByte: 2 * time.Second, Retry: retry.Policy{MaxAttempts: 3, Jitter: true},
			})
			var all sync.WaitGroup
			for i := range 64 {
				all.Go(func() {
					for n := range 10 {
						member(t, c, i, n)
					}
				})
			}
			all.Wait()
			time.Sleep(30 * time.Second) // in case it is open
			p.mu.Lock()
			p.answer = always(200)
			p.mu.Unlock()
			for range 16 {
				all.Go(func() {
					if _, err := ask(t.Context(), c, false); err != nil {
						t.Errorf("seed %d: %v", seed, err)
					}
				})
			}
			all.Wait()
		})
	}
}

// member makes one of many calls: some have a fallback, some are cancelled, some panic.
func member(t *testing.T, c *httpclient.Client, i, n int) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+(i*7+n*13)%90)*time.Second)
	defer cancel()
	defer func() { _ = recover() }()
	var got string
	job := fetch(c, "http://model.test/v1", &got)
	job.HasFallback = i%4 == 0
	if do := job.Do; (i+n)%11 == 0 {
		job.Do = func(ctx context.Context) (int, error) {
			_, _ = do(ctx)
			panic("of a library")
		}
	}
	var e *httpclient.Error
	if _, err := c.Call(ctx, job); err != nil && ctx.Err() == nil && !errors.As(err, &e) {
		t.Errorf("no typed failure: %v", err)
	}
}
