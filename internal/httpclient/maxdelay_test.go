package httpclient_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/httpclient"
)

// A breaker may stay open longer than retry.max_delay, which limits only the waits that servers ask for.
func TestOpenBreakerIsNotLimitedByMaxDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, b := &fakeServer{answer: always(503)}, httpclient.NewBreaker()
		for range 5 {
			_, _ = ask(t.Context(), p.client(b, 1), false)
		}
		c := httpclient.New(httpclient.Settings{Base: p, Breaker: b, Retry: retry.Policy{MaxAttempts: 4, InitialDelay: 100 * time.Millisecond, MaxDelay: time.Second}})
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				_, err := ask(t.Context(), c, false)
				if long, ok := errors.AsType[*httpclient.LongWaitError](err); err == nil || ok {
					t.Errorf("call failed because of a wait of %v: %v", long, err)
				}
			})
		}
		all.Wait()
	})
}
