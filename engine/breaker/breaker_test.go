package breaker_test

import (
	"testing"
	"time"

	"github.com/pexctl/pex/engine/breaker"
)

func TestOpensAfterFailuresInARowAndCloses(t *testing.T) {
	now := time.Unix(0, 0)
	b := breaker.Breaker{Trip: 3, Pause: time.Second, MaxPause: 3 * time.Second}
	b.Fail(now, 0)
	b.Fail(now, 0)
	b.Succeed()
	b.Fail(now, 0)
	b.Fail(now, 0)
	if b.Open() || !b.Allows(now) {
		t.Error("two failures in a row open it")
	}
	for i, want := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 3 * time.Second} {
		b.Fail(now, 0)
		if b.Remaining(now) != want || b.Allows(now) {
			t.Errorf("pause %d is %s, want %s", i, b.Remaining(now), want)
		}
		now = b.Until
		if !b.Allows(now) {
			t.Errorf("pause %d does not end", i)
		}
		b.Probing = true
		if b.Allows(now) {
			t.Error("two calls try it at once")
		}
		b.Probing = false
	}
	b.Fail(now, time.Minute)
	if b.Remaining(now) != time.Minute {
		t.Errorf("the server asked for a minute, and it stays open for %s", b.Remaining(now))
	}
	b.Succeed()
	if b.Open() || b.Remaining(now) != 0 {
		t.Error("a success does not close it")
	}
}
