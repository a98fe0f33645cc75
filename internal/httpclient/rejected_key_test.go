package httpclient_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/internal/httpclient"
)

// Keys are checked before the model is called.
func TestRejectedKeyDoesNotAffectBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeServer{answer: func(n int) (int, time.Duration) {
			if n%3 == 0 {
				return 401, 0
			}
			return 503, 0
		}}
		c := p.client(httpclient.NewBreaker(), 1)
		for range 7 { // five of them fail
			_, _ = ask(t.Context(), c, true)
		}
		if _, err := ask(t.Context(), c, true); !errors.Is(err, httpclient.ErrOpen) {
			t.Fatalf("a wrong key closed the breaker: %v", err)
		}
		p.answer = always(401)
		_, _ = ask(t.Context(), c, false)
		p.answer = always(503)
		_, _ = ask(t.Context(), c, false)
		if _, err := ask(t.Context(), c, true); !errors.Is(err, httpclient.ErrOpen) || !strings.Contains(err.Error(), "the next trial call is in 2s") {
			t.Errorf("a wrong key closed the breaker: %v", err)
		}
	})
}

func TestPanickingAttemptReleasesBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeServer{answer: always(503)}
		b := httpclient.NewBreaker()
		for range 5 {
			_, _ = ask(t.Context(), p.client(b, 1), true)
		}
		c := httpclient.New(httpclient.Settings{Base: p, Breaker: b, Limiter: httpclient.NewLimiter(httpclient.Limits{MaxConcurrent: 1})})
		func() {
			defer func() { _ = recover() }()
			_, _ = c.Call(t.Context(), httpclient.Call{Do: func(context.Context) (int, error) { panic("of a library") }})
		}()
		p.answer = always(200)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := ask(ctx, c, false); err != nil {
			t.Error(err)
		}
	})
}
