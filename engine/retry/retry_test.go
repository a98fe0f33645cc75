package retry_test

import (
	"testing"
	"time"

	"github.com/pexctl/pex/engine/retry"
)

func TestBackoffDoublesUpToTheMaximum(t *testing.T) {
	for n, want := range []time.Duration{1, 1, 2, 4, 8, 10, 10} {
		if got := retry.Backoff(n, 1, 10); got != want {
			t.Errorf("wait %d is %d, want %d", n, got, want)
		}
	}
	if got := retry.Backoff(1000, time.Second, 0); got <= 0 {
		t.Errorf("overflow: %d", got)
	}
}
