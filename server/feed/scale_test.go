package feed_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/server/feed"
)

// memory returns the bytes in use on the heap and by stacks.
func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// A watcher costs its goroutine and no copy of the events.
func TestManyWatchersShareTheEvents(t *testing.T) {
	const watchers, events, size = 1000, 200, 10_000
	synctest.Test(t, func(t *testing.T) {
		f := feed.New()
		received := make([]int, watchers)
		before := memory()
		for n := range received {
			go func() {
				for range f.Watch(t.Context(), feed.Cursor{}, n%2 == 0) {
					received[n]++
				}
			}()
		}
		synctest.Wait()
		text := strings.Repeat("x", size)
		for seq := 1; seq <= events; seq++ {
			f.Send(event(0, seq, text))
		}
		f.Send(delta("x"))
		synctest.Wait()
		perWatcher := (memory() - before - events*size) / watchers
		t.Logf("%d bytes per watcher", perWatcher)
		if !raceDetector && perWatcher > 10_000 {
			t.Errorf("%d bytes per watcher", perWatcher)
		}
		f.End("completed")
		synctest.Wait()
		for n, got := range received {
			if want := events + 2 - n%2; got != want {
				t.Fatalf("watcher %d received %d items, want %d", n, got, want)
			}
		}
	})
}

// BenchmarkSend is the cost of an event for its run: the encoding, once, and for each
// watcher the wake-up.
func BenchmarkSend(b *testing.B) {
	for name, watchers := range map[string]int{"0 watchers": 0, "1 watcher": 1, "1000 watchers": 1000} {
		b.Run(name, func(b *testing.B) {
			f := feed.NewLimited(1 << 20)
			f.Earlier = func(context.Context, engine.Sink) {}
			for range watchers {
				go func() {
					for range f.Watch(b.Context(), feed.Cursor{}, true) {
						runtime.Gosched()
					}
				}()
			}
			b.ReportAllocs()
			seq := 0
			for b.Loop() {
				seq++
				f.Send(event(0, seq, "the result of a step"))
			}
		})
	}
}
