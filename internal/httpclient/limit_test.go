package httpclient_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/internal/httpclient"
)

func TestLimiterWaitsForWindow(t *testing.T) {
	tests := []struct {
		name   string
		limits httpclient.Limits
		tokens int // expected by each call
		used   int
		calls  int
		want   time.Duration
	}{
		{"requests", httpclient.Limits{RequestsPerMinute: 2}, 0, 0, 5, 2 * time.Minute},
		{"tokens", httpclient.Limits{TokensPerMinute: 100}, 50, 0, 4, time.Minute},
		{"tokens really used", httpclient.Limits{TokensPerMinute: 100}, 50, 10, 6, 0},
		{"a call larger than the limit", httpclient.Limits{TokensPerMinute: 100}, 500, 0, 2, time.Minute},
		{"nothing limited", httpclient.Limits{}, 1000, 1000, 100, 0},
		{"requests before tokens", httpclient.Limits{RequestsPerMinute: 1, TokensPerMinute: 1000}, 1, 1, 3, 2 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, begin := httpclient.NewLimiter(tt.limits), time.Now()
				for range tt.calls {
					release, err := l.Acquire(t.Context(), tt.tokens)
					if err != nil {
						t.Fatal(err)
					}
					release(tt.used)
				}
				if spent := time.Since(begin); spent != tt.want {
					t.Errorf("took %v, want %v", spent, tt.want)
				}
			})
		})
	}
}

func TestLimiterHoldsInAnyMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := httpclient.NewLimiter(httpclient.Limits{RequestsPerMinute: 5})
		var mu sync.Mutex
		var at []time.Time
		var all sync.WaitGroup
		for i := range 23 {
			all.Go(func() {
				time.Sleep(time.Duration(i*i) * time.Second)
				release, err := l.Acquire(t.Context(), 0)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				at = append(at, time.Now())
				mu.Unlock()
				release(0)
			})
		}
		all.Wait()
		for i := 5; i < len(at); i++ {
			if at[i].Sub(at[i-5]) < time.Minute {
				t.Errorf("6 calls within %v", at[i].Sub(at[i-5]))
			}
		}
	})
}

func TestLimiterLimitsConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := httpclient.NewLimiter(httpclient.Limits{MaxConcurrent: 3})
		var now, most atomic.Int32
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				release, err := l.Acquire(t.Context(), 0)
				if err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				release(0)
			})
		}
		all.Wait()
		if most.Load() != 3 {
			t.Errorf("%d at once", most.Load())
		}
	})
}

func TestLimiterWaitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, limits := range []httpclient.Limits{{RequestsPerMinute: 1}, {MaxConcurrent: 1}} {
			l := httpclient.NewLimiter(limits)
			release, err := l.Acquire(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := l.Acquire(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%+v: %v", limits, err)
			}
			cancel()
			release(0)
			if _, err := l.Acquire(t.Context(), 0); err != nil {
				t.Errorf("%+v: a cancelled wait did not release its slot: %v", limits, err)
			}
		}
	})
}

func TestSharedLimiterIsOnePerModel(t *testing.T) {
	a := httpclient.Shared("host model", httpclient.Limits{MaxConcurrent: 1})
	if a == nil || a != httpclient.Shared("host model", httpclient.Limits{MaxConcurrent: 1}) {
		t.Error("two limiters for one model")
	}
	if a == httpclient.Shared("host other", httpclient.Limits{MaxConcurrent: 1}) {
		t.Error("one limiter for two models")
	}
	if httpclient.Shared("host model", httpclient.Limits{}) != nil {
		t.Error("a limiter where nothing is limited")
	}
}

func TestCallsShareALimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := httpclient.NewLimiter(httpclient.Limits{TokensPerMinute: 10})
		begin := time.Now()
		for range 3 {
			c := httpclient.New(httpclient.Settings{Limiter: l})
			if _, err := c.Call(t.Context(), httpclient.Call{Tokens: 3, Do: func(context.Context) (int, error) { return 8, nil }}); err != nil {
				t.Fatal(err)
			}
		}
		if spent := time.Since(begin); spent != 2*time.Minute {
			t.Errorf("took %v", spent)
		}
	})
}
