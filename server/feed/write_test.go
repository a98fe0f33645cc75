package feed_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/feed"
)

// connection is a response whose client reads only while open.
type connection struct {
	mu       sync.Mutex
	header   http.Header
	body     bytes.Buffer
	flushes  int
	deadline time.Time
	blocked  bool
}

func (c *connection) Header() http.Header { return c.header }

func (c *connection) WriteHeader(int) {}

func (c *connection) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.blocked {
		time.Sleep(time.Until(c.deadline))
		return 0, os.ErrDeadlineExceeded
	}
	return c.body.Write(b)
}

func (c *connection) block() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocked = true
}

func (c *connection) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.body.String()
}

func (c *connection) Flush() { c.flushes++ }

func (c *connection) SetWriteDeadline(t time.Time) error {
	c.deadline = t
	return nil
}

func items(all ...feed.Item) iter.Seq[feed.Item] { return slices.Values(all) }

func get(target string) *http.Request { return httptest.NewRequest(http.MethodGet, target, nil) }

func TestWriteFrames(t *testing.T) {
	f := feed.New()
	f.Replay(event(0, 1, "a\nb"))
	f.Replay(event(0, 2, ""))
	f.Send(event(1, 2, ""))
	f.End("completed")
	for format, want := range map[feed.Format]string{
		feed.EventStream: `retry: 2000

event: rewound
data: {"after":1}

id: 1.2
event: warning
data: {"v":1,"seq":2,"rewinds":1,"at":"1970-01-01T00:00:02Z","run":"r-1","type":"warning"}

retry: 15000
event: end
data: {"status":"completed"}

`,
		feed.JSONLines: `{"type":"rewound","after":1}
{"v":1,"seq":2,"rewinds":1,"at":"1970-01-01T00:00:02Z","run":"r-1","type":"warning"}
{"type":"end","status":"completed"}
`,
		feed.DataStream: `event: rewound
data: {"after":1}

event: warning
data: {"v":1,"seq":2,"rewinds":1,"at":"1970-01-01T00:00:02Z","run":"r-1","type":"warning"}

event: end
data: {"status":"completed"}

`,
	} {
		w := httptest.NewRecorder()
		if err := feed.Write(w, get("/"), f.Watch(t.Context(), feed.Cursor{Seq: 7}, true), format); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, w.Body.String()); diff != "" {
			t.Error(diff)
		}
		if got := w.Header().Get("Content-Type"); got != format.ContentType() || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("headers: %v", w.Header())
		}
		head := httptest.NewRecorder()
		if err := feed.Write(head, httptest.NewRequest(http.MethodHead, "/", nil), f.Watch(t.Context(), feed.Cursor{}, true), format); err != nil || head.Body.Len() > 0 {
			t.Errorf("HEAD: %q, %v", head.Body, err)
		}
	}
}

// parse reads an event stream as a browser does, and returns the data by id.
func parse(stream string) (out []feed.Item) {
	stream = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(stream)
	item := feed.Item{}
	for line := range strings.SplitSeq(stream, "\n") {
		field, value, _ := strings.Cut(line, ": ")
		switch field {
		case "id":
			item.Cursor, _ = feed.ParseCursor(value)
		case "event":
			item.Type = value
		case "data":
			item.Data = append(item.Data, value...)
		case "":
			if line == "" && len(item.Data) > 0 {
				out = append(out, item)
			}
			item = feed.Item{}
		}
	}
	return out
}

// FuzzFraming checks that no text of an event can end its frame or add another one.
func FuzzFraming(f *testing.F) {
	for _, s := range []string{"", "\n\n", "\r\n", "\x00", "\nid: 9.9\n", "data: x", "\u2028\u0085\xff", "\n\ndata: {}\n\n"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, text, args string) {
		fd := feed.New()
		ev := event(0, 1, text)
		ev.Args = []byte(args)
		fd.Send(ev)
		fd.End(text)
		w, lines := httptest.NewRecorder(), httptest.NewRecorder()
		if err := errors.Join(
			feed.Write(w, get("/"), fd.Watch(t.Context(), feed.Cursor{}, false), feed.EventStream),
			feed.Write(lines, get("/"), fd.Watch(t.Context(), feed.Cursor{}, false), feed.JSONLines),
		); err != nil {
			t.Fatal(err)
		}
		got := parse(w.Body.String())
		if len(got) != 2 || got[0].Cursor.String() != "0.1" || got[1].Type != feed.End {
			t.Fatalf("%q: %+v", w.Body, got)
		}
		if n := strings.Count(lines.Body.String(), "\n"); n != 2 || strings.ContainsAny(lines.Body.String(), "\r\x00") {
			t.Errorf("%d lines: %q", n, lines.Body)
		}
		if !strings.HasPrefix(lines.Body.String(), string(got[0].Data)+"\n") {
			t.Errorf("%q and %q", lines.Body, got[0].Data)
		}
		var decoded struct{ Text string }
		if err := jsonvalue.Unmarshal(got[0].Data, &decoded); err != nil {
			t.Error(err)
		}
	})
}

func TestWritePingsInSilence(t *testing.T) {
	for format, want := range map[feed.Format]string{feed.EventStream: ": ping\n\n", feed.JSONLines: `{"type":"ping"}` + "\n"} {
		synctest.Test(t, func(t *testing.T) {
			f, c := feed.New(), &connection{header: http.Header{}}
			done := make(chan error)
			go func() { done <- feed.Write(c, get("/"), f.Watch(t.Context(), feed.Cursor{}, true), format) }()
			for _, step := range []struct {
				wait  time.Duration
				pings int
			}{{14 * time.Second, 0}, {2 * time.Second, 1}, {28 * time.Second, 2}, {time.Minute, 6}} {
				time.Sleep(step.wait)
				synctest.Wait()
				if got := strings.Count(c.text(), want); got != step.pings {
					t.Errorf("%d pings, want %d: %q", got, step.pings, c.text())
				}
			}
			f.Send(event(0, 1, "")) // an item postpones the next ping
			time.Sleep(14 * time.Second)
			synctest.Wait()
			if got := strings.Count(c.text(), want); got != 6 {
				t.Errorf("%d pings after an event", got)
			}
			f.End("completed")
			if err := <-done; err != nil {
				t.Error(err)
			}
			if !c.deadline.IsZero() {
				t.Error("the deadline remains for the next request of the connection")
			}
			body := c.text()
			time.Sleep(time.Hour)
			if c.text() != body {
				t.Errorf("after the end: %q", c.text())
			}
		})
	}
}

func TestWriteFlushesOncePerBatch(t *testing.T) {
	f, c := feed.New(), &connection{header: http.Header{}}
	for seq := 1; seq <= 100; seq++ {
		f.Send(event(0, seq, ""))
	}
	f.End("completed")
	if err := feed.Write(c, get("/"), f.Watch(t.Context(), feed.Cursor{}, true), feed.EventStream); err != nil {
		t.Error(err)
	}
	if c.flushes != 2 { // after retry, and after the end
		t.Errorf("%d flushes", c.flushes)
	}
	if got := len(parse(c.text())); got != 101 {
		t.Errorf("%d events", got)
	}
}

// A client that does not read is dropped after 30 seconds; neither the run nor other
// watchers wait for it.
func TestSlowClientIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed.New()
		slow, fast := &connection{header: http.Header{}, blocked: true}, &connection{header: http.Header{}}
		failed, done := make(chan error), make(chan error)
		go func() {
			failed <- feed.Write(slow, get("/"), f.Watch(t.Context(), feed.Cursor{}, true), feed.EventStream)
		}()
		go func() {
			done <- feed.Write(fast, get("/"), f.Watch(t.Context(), feed.Cursor{}, true), feed.EventStream)
		}()
		begin := time.Now()
		for seq := 1; seq <= 1000; seq++ {
			f.Send(event(0, seq, ""))
		}
		synctest.Wait()
		if time.Since(begin) != 0 {
			t.Errorf("the run waited %s", time.Since(begin))
		}
		if got := len(parse(fast.text())); got != 1000 {
			t.Errorf("the other watcher has %d events", got)
		}
		if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != 30*time.Second {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
		f.End("completed")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A ping that fails ends the items of an idle run.
func TestFailedPingEndsTheItems(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := feed.New(), &connection{header: http.Header{}}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error)
		go func() {
			done <- feed.Write(c, get("/"), f.Watch(ctx, feed.Cursor{}, true), feed.EventStream, feed.OnFailure(cancel))
		}()
		synctest.Wait()
		c.block()
		begin := time.Now()
		if err := <-done; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != 45*time.Second {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
	})
}

func TestFormatOf(t *testing.T) {
	for accept, want := range map[string]feed.Format{
		"": feed.EventStream, "*/*": feed.EventStream, "text/event-stream": feed.EventStream,
		"application/jsonl": feed.JSONLines, "application/x-ndjson; q=1": feed.JSONLines, "text/html, Application/JSONL;q=0.9": feed.JSONLines,
		"text/event-stream, application/jsonl": feed.EventStream,
	} {
		r := get("/")
		r.Header.Set("Accept", accept)
		if got := feed.FormatOf(r); got != want {
			t.Errorf("%s: %d", accept, got)
		}
	}
	if err := feed.Write(httptest.NewRecorder(), get("/"), items(), feed.EventStream); err != nil {
		t.Error(err)
	}
}
