package feed_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/feed"
)

func TestWatcherContinuesAfterItsCursor(t *testing.T) {
	f := feed.New()
	for seq := 1; seq <= 3; seq++ {
		f.Replay(event(0, seq, ""))
	}
	f.Send(event(0, 4, ""))
	f.End("completed")
	f.End("failed")           // only the first call counts
	f.Send(event(0, 5, ""))   // after the end
	f.Send(delta("too late")) // likewise
	end := `end{"status":"completed"}`
	for after, want := range map[feed.Cursor]string{
		{}:                   "0.1 0.2 0.3 0.4 " + end,
		{Seq: 2}:             "0.3 0.4 " + end,
		{Seq: 4}:             end,
		{Seq: 9}:             end,
		{Rewinds: 2, Seq: 9}: end,
	} {
		for _, deltas := range []bool{false, true} {
			if got := watch(t.Context(), f, after, deltas); got != want {
				t.Errorf("after %s: %s, want %s", after, got, want)
			}
		}
	}
}

func TestRewoundRun(t *testing.T) {
	f := feed.New()
	for seq := 1; seq <= 3; seq++ {
		f.Replay(event(0, seq, ""))
	}
	f.Replay(event(1, 4, "")) // the first raise voided event 4 and later ones
	f.Replay(event(1, 5, ""))
	f.Send(event(2, 6, "")) // the second one voided none
	f.End("completed")
	for after, want := range map[string]string{
		"0.0": "0.1 0.2 0.3 1.4 1.5 2.6",
		"0.2": "0.3 1.4 1.5 2.6",
		"0.3": "1.4 1.5 2.6",
		"0.4": `rewound{"after":3} 1.4 1.5 2.6`,
		"0.9": `rewound{"after":3} 1.4 1.5 2.6`,
		"1.4": "1.5 2.6",
		"1.5": "2.6",
		"1.6": `rewound{"after":5} 2.6`,
		"2.6": "",
	} {
		at, err := feed.ParseCursor(after)
		if err != nil {
			t.Fatal(err)
		}
		want = strings.TrimSpace(want + ` end{"status":"completed"}`)
		if got := watch(t.Context(), f, at, true); got != want {
			t.Errorf("after %s: %s, want %s", after, got, want)
		}
	}
}

// A follower that starts again sends all events again; the feed ignores those it has and
// rewinds its watchers at the first one that differs.
func TestFollowerOfARewoundRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed.New()
		var got [2][]string
		for n := range got {
			go func() {
				for i := range f.Watch(t.Context(), feed.Cursor{}, n == 1) {
					got[n] = append(got[n], name(i))
				}
			}()
		}
		synctest.Wait()
		for seq := 1; seq <= 5; seq++ {
			f.Send(event(0, seq, ""))
		}
		synctest.Wait()
		for seq := 1; seq <= 3; seq++ {
			f.Send(event(0, seq, ""))
		}
		f.Send(event(1, 4, ""))
		f.Send(event(1, 5, ""))
		f.End("completed")
		synctest.Wait()
		want := `0.1 0.2 0.3 0.4 0.5 rewound{"after":3} 1.4 1.5 end{"status":"completed"}`
		for _, got := range got {
			if strings.Join(got, " ") != want {
				t.Errorf("got %s", got)
			}
		}
	})
}

func TestTransientEventsGoToWatchersAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed.New()
		got := map[string]*[]string{}
		join := func(who string, deltas bool) {
			var items []string
			got[who] = &items
			go func() {
				for i := range f.Watch(t.Context(), feed.Cursor{}, deltas) {
					items = append(items, name(i))
				}
			}()
			synctest.Wait()
		}
		f.Send(event(0, 1, ""))
		f.Send(delta("nobody"))
		join("early", true)
		join("quiet", false)
		f.Send(delta("a"))
		f.Send(event(0, 2, ""))
		f.Send(delta("b"))
		join("late", true)
		f.Send(delta("c"))
		f.Send(event(0, 3, ""))
		f.Send(engine.Event{Type: engine.RunSuspended, Text: "suspended"})
		f.End("suspended")
		synctest.Wait()
		end := ` end{"status":"suspended"}`
		for who, want := range map[string]string{
			"early": "0.1 a 0.2 b c 0.3 suspended" + end, "quiet": "0.1 0.2 0.3" + end, "late": "0.1 0.2 c 0.3 suspended" + end,
		} {
			if got := strings.Join(*got[who], " "); got != want {
				t.Errorf("%s: %s, want %s", who, got, want)
			}
		}
	})
}

// A watcher that falls behind misses transient events, but no numbered ones, and it never
// blocks the run.
func TestSlowWatcherMissesTransientEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed.New()
		gate := make(chan struct{})
		c, deltas := &client{}, 0
		go func() {
			for i := range f.Watch(t.Context(), feed.Cursor{}, true) {
				if c.receive(i); i.Type == string(engine.ModelDelta) {
					deltas++
				}
				<-gate
			}
		}()
		synctest.Wait()
		f.Send(event(0, 1, ""))
		synctest.Wait()
		for seq := 2; seq <= 50; seq++ {
			f.Send(event(0, seq, ""))
			for range 100 {
				f.Send(delta("x"))
			}
		}
		close(gate)
		synctest.Wait()
		f.Send(delta("x"))
		f.Send(delta("x"))
		f.End("completed")
		synctest.Wait()
		if len(c.received) != 50 || len(c.problems) > 0 || len(c.ends) != 1 {
			t.Errorf("%d events, %q, %q", len(c.received), c.problems, c.ends)
		}
		if deltas != 2 {
			t.Errorf("%d transient events, want those after the watcher caught up", deltas)
		}
	})
}

func TestWatchEndsWithItsContextAndItsConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed.New()
		f.Send(event(0, 1, ""))
		f.Send(event(0, 2, ""))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan string)
		go func() { done <- watch(ctx, f, feed.Cursor{}, true) }()
		synctest.Wait()
		f.Send(event(0, 3, ""))
		f.End("suspended")
		cancel() // a server that shuts down
		if got := <-done; got != `0.1 0.2 0.3 end{"status":"suspended"}` {
			t.Error(got)
		}
		f = feed.New()
		f.Send(event(0, 1, ""))
		f.Send(event(0, 2, ""))
		if got := watch(ctx, f, feed.Cursor{}, true); got != "0.1 0.2" {
			t.Errorf("after the end of the context: %s", got)
		}
		for i := range f.Watch(t.Context(), feed.Cursor{}, true) {
			if i.Cursor.Seq != 1 || !i.More {
				t.Errorf("%+v", i)
			}
			break
		}
	})
}

func TestItemsAreOneLineOfJSON(t *testing.T) {
	f := feed.New()
	hostile := "a\nb\r\nc\x00d\u2028e<&>\x1b[31m\xff"
	ev := event(0, 1, hostile)
	ev.Args = json.RawMessage("{\n  \"a\": \"b\",\r\n  \"c\": [1,\n2]\n}")
	f.Send(ev)
	broken := event(0, 2, "")
	broken.Args = json.RawMessage("{\n")
	f.Send(broken)
	f.End("completed\n\"")
	for i := range f.Watch(t.Context(), feed.Cursor{}, false) {
		if strings.ContainsAny(string(i.Data), "\n\r\x00") || !json.Valid(i.Data) {
			t.Errorf("%s: %q", i.Type, i.Data)
		}
		if i.Cursor.Seq == 1 && !strings.Contains(string(i.Data), `"args":{"a":"b","c":[1,2]},`) {
			t.Errorf("%s", i.Data)
		}
		if i.Cursor.Seq == 2 && !strings.Contains(string(i.Data), "the event cannot be encoded") {
			t.Errorf("%s", i.Data)
		}
	}
}

// A feed with Earlier holds a bounded number of bytes, and its watchers still receive all
// events.
func TestEarlierEventsAreReadAgain(t *testing.T) {
	f, calls := feed.NewLimited(2000), 0
	all := func(n int, sink engine.Sink) {
		for seq := 1; seq <= n; seq++ {
			sink.Send(event(0, seq, strings.Repeat("x", 50)))
		}
	}
	f.Earlier = func(ctx context.Context, sink engine.Sink) {
		calls++
		all(100, sink)
	}
	all(100, f)
	f.End("completed")
	if n, bytes := f.Held(); n == 0 || n > 20 || bytes > 2000 {
		t.Errorf("the feed holds %d events of %d bytes", n, bytes)
	}
	for _, after := range []int{0, 1, 50, 99, 100} {
		c := &client{received: make([]string, after)}
		for i := range f.Watch(t.Context(), feed.Cursor{Seq: after}, after%2 == 0) {
			c.receive(i)
		}
		if len(c.received) != 100 || len(c.problems) > 0 || len(c.ends) != 1 {
			t.Errorf("after %d: %d events, %q", after, len(c.received), c.problems)
		}
	}
	if calls != 3 {
		t.Errorf("the journal was read %d times, want 3", calls)
	}
	for i := range f.Watch(t.Context(), feed.Cursor{}, false) { // a watcher that leaves while it reads
		if i.Cursor.Seq == 3 {
			break
		}
	}
	f.Earlier = func(context.Context, engine.Sink) {} // it cannot read the journal
	if got := watch(t.Context(), f, feed.Cursor{}, false); got != "" {
		t.Errorf("got %s, want no events and no end", got)
	}
}

func TestCheckRejectsUnknownCursors(t *testing.T) {
	f := feed.New()
	for seq := 1; seq <= 3; seq++ {
		f.Replay(event(0, seq, ""))
	}
	f.Send(event(1, 4, ""))
	f.Send(completed(1, 5))
	f.End("completed")
	for at, known := range map[string]bool{
		"0.0": true, "0.1": true, "0.3": true, "0.4": true, "0.9": true, "1.4": true, "1.5": true,
		"0.999": true, // may have been voided
		"1.3":   false, "1.6": false, "2.4": false, "2.9": false, "1.0": false,
	} {
		c, err := feed.ParseCursor(at)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Check(t.Context(), c); err == nil != known {
			t.Errorf("%s: %v", at, err)
		}
	}
	err := f.Check(t.Context(), feed.Cursor{Rewinds: 1, Seq: 999})
	if want := "unknown cursor 1.999: the last event of the run is 1.5; omit the cursor to start from the first event"; err == nil || err.Error() != want {
		t.Error(err)
	}
}

// A client that reconnects while a session replays the journal has a cursor that the feed
// does not know yet.
func TestCheckWaitsForTheReplay(t *testing.T) {
	for name, tt := range map[string]struct {
		events []engine.Event
		status string
		empty  bool
		want   string
		after  string
	}{
		"replayed":                         {events: []engine.Event{event(0, 2, ""), event(0, 3, "")}, want: "<nil>", after: "0s"},
		"rewound":                          {events: []engine.Event{event(1, 2, "")}, want: "<nil>", after: "0s"},
		"still replays":                    {want: "<nil>", after: "5s"},
		"beyond":                           {events: []engine.Event{event(0, 2, "")}, want: "unknown cursor 0.3: the last event of the run is 0.2; omit the cursor to start from the first event", after: "1s"},
		"completed":                        {events: []engine.Event{completed(0, 2)}, status: "failed", want: "unknown cursor 0.3: the last event of the run is 0.2; omit the cursor to start from the first event", after: "0s"},
		"suspended":                        {status: "suspended", want: "<nil>", after: "0s"},
		"suspended before the first event": {status: "suspended", empty: true, want: "<nil>", after: "0s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := feed.New()
				if !tt.empty {
					f.Replay(event(0, 1, ""))
				}
				done := make(chan string)
				begin := time.Now()
				go func() { done <- fmt.Sprint(f.Check(t.Context(), feed.Cursor{Seq: 3})) }()
				synctest.Wait()
				for _, ev := range tt.events {
					f.Send(ev)
				}
				if tt.status != "" {
					f.End(tt.status)
				}
				if got := <-done; got != tt.want || time.Since(begin).String() != tt.after {
					t.Errorf("%s after %s", got, time.Since(begin))
				}
			})
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := feed.New().Check(ctx, feed.Cursor{Seq: 1}); err != context.Canceled { //nolint:errorlint // exactly this one
		t.Error(err)
	}
}

func TestItemsEqualTheEventsOfTheCommandLine(t *testing.T) {
	f := feed.New()
	ev := event(2, 1, "<b>")
	f.Send(ev)
	f.End("completed")
	for i := range f.Watch(t.Context(), feed.Cursor{}, false) {
		if i.Cursor.Seq != 0 && string(i.Data) != string(jsonvalue.Encode(ev)) {
			t.Errorf("%s", i.Data)
		}
	}
}
