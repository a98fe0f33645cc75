package server_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/feed"
)

func TestHealthNeedsNoAuthentication(t *testing.T) {
	tokens, err := auth.NewTokens(nil)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := auth.New(auth.Options{Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	var notReady atomic.Value
	o := server.Options{Handler: http.HandlerFunc(echo), Auth: guard, Version: "1.2.3", Ready: func(context.Context) error {
		err, _ := notReady.Load().(error)
		return err
	}}
	serve(t, o, func(t *testing.T, w *world) {
		for path, want := range map[string]string{
			"/healthz": `200 {"status":"ok"}`, "/readyz": `200 {"status":"ready"}`, "/version": `200 {"version":"1.2.3"}`,
		} {
			res, body := w.get(path)
			if got := res.Status[:3] + " " + strings.TrimSpace(body); got != want {
				t.Errorf("%s: %s", path, got)
			}
		}
		link := w.request(http.MethodGet, "/healthz", nil)
		link.Header.Set("Sec-Fetch-Site", "cross-site")
		link.Header.Set("Sec-Fetch-Mode", "navigate")
		if res, _ := w.send(link); res.StatusCode != 200 {
			t.Errorf("a link on another site: %d", res.StatusCode)
		}
		if res, _ := w.get("/v1/runs"); res.StatusCode != 401 {
			t.Errorf("another path: %d", res.StatusCode)
		}
		notReady.Store(errors.New("the disk is full"))
		if res, body := w.get("/readyz"); res.StatusCode != 503 || res.Header.Get("Retry-After") != "5" || !strings.Contains(body, `"detail":"the disk is full"`) {
			t.Errorf("%d %s", res.StatusCode, body)
		}
		if res, _ := w.get("/healthz"); res.StatusCode != 200 {
			t.Errorf("healthz of a server that is not ready: %d", res.StatusCode)
		}
	})
}

func TestLimitsOfBodies(t *testing.T) {
	serve(t, server.Options{Handler: http.HandlerFunc(echo), Limits: server.Limits{Body: 1000}}, func(t *testing.T, w *world) {
		for name, tt := range map[string]struct {
			body   io.Reader
			status int
		}{
			"none":              {nil, 200},
			"at the limit":      {strings.NewReader(strings.Repeat("x", 1000)), 200},
			"over the limit":    {strings.NewReader(strings.Repeat("x", 1001)), 413},
			"chunked":           {io.MultiReader(strings.NewReader("x"), strings.NewReader("y")), 200},
			"chunked, too long": {io.MultiReader(strings.NewReader("x"), strings.NewReader(strings.Repeat("x", 1000))), 413},
		} {
			res, body := w.send(w.request(http.MethodPost, "/", tt.body))
			if res.StatusCode != tt.status {
				t.Errorf("%s: %d", name, res.StatusCode)
			}
			if tt.status == 413 && (!strings.Contains(body, `"detail":"the request body is larger than 1000 bytes"`) || res.Header.Get("Content-Type") != "application/problem+json") {
				t.Errorf("%s: %s", name, body)
			}
			if res, body := w.get("/"); res.StatusCode != 200 || body != "" {
				t.Errorf("the next request: %d %s", res.StatusCode, body)
			}
		}
		if res, _ := w.get("/", "X-Large", strings.Repeat("x", 64<<10)); res.StatusCode != 431 {
			t.Errorf("large header: %d", res.StatusCode)
		}
	})
}

// An upload has its own limit.
func TestLimitOfUploads(t *testing.T) {
	isUpload := func(r *http.Request) bool { return r.URL.Path == "/upload" }
	serve(t, server.Options{Handler: http.HandlerFunc(echo), IsUpload: isUpload, Limits: server.Limits{Body: 10, Upload: 1000}}, func(t *testing.T, w *world) {
		for size, status := range map[int]int{1000: 200, 6000: 413} {
			for name, body := range map[string]io.Reader{
				"known length": strings.NewReader(strings.Repeat("x", size)), "chunked": io.MultiReader(strings.NewReader(strings.Repeat("x", size))),
			} {
				res, text := w.send(w.request(http.MethodPost, "/upload", body))
				if res.StatusCode != status || status == 413 && !strings.Contains(text, `"detail":"the request body is larger than 1000 bytes"`) {
					t.Errorf("%d bytes, %s: %d %.100s", size, name, res.StatusCode, text)
				}
			}
		}
		if res, _ := w.send(w.request(http.MethodPost, "/other", strings.NewReader(strings.Repeat("x", 100)))); res.StatusCode != 413 {
			t.Errorf("not an upload: %d", res.StatusCode)
		}
	})
}

// A client without a token cannot hold a connection for as long as an upload may take.
func TestBodiesThatNobodyReads(t *testing.T) {
	refuse := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	isUpload := func(*http.Request) bool { return true }
	serve(t, server.Options{Handler: http.HandlerFunc(refuse), IsUpload: isUpload}, func(t *testing.T, w *world) {
		conn, err := w.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		begin := time.Now()
		if _, err := conn.Write([]byte("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Error(err)
		}
		if after := time.Since(begin); after > time.Minute {
			t.Errorf("the connection was open for %s", after)
		}
	})
}

func TestSlowBodies(t *testing.T) {
	serve(t, server.Options{Handler: http.HandlerFunc(echo)}, func(t *testing.T, w *world) {
		body, slow := io.Pipe()
		begin := time.Now()
		go func() {
			_, _ = slow.Write([]byte("x"))
		}()
		res, text := w.send(w.request(http.MethodPost, "/", body))
		if res.StatusCode != 408 || time.Since(begin) != 30*time.Second || !strings.Contains(text, `"detail":"the request body was not received within 30s"`) {
			t.Errorf("%d after %s: %s", res.StatusCode, time.Since(begin), text)
		}
		slow.Close()
	})
	slowHandler := func(w http.ResponseWriter, r *http.Request) {
		echo(w, r)
		select {
		case <-time.After(time.Hour):
			_, _ = w.Write([]byte(" done"))
		case <-r.Context().Done():
		}
	}
	serve(t, server.Options{Handler: http.HandlerFunc(slowHandler)}, func(t *testing.T, w *world) {
		if _, body := w.send(w.request(http.MethodPost, "/", strings.NewReader("read"))); body != "read done" {
			t.Errorf("the deadline of the body ended the response: %q", body)
		}
	})
}

// A client that reads neither a response nor the events of a stream is dropped.
func TestSlowReadersAreDropped(t *testing.T) {
	var ended chan time.Duration // belongs to the virtual time
	large := func(w http.ResponseWriter, _ *http.Request) {
		begin := time.Now()
		var err error
		for err == nil {
			_, err = w.Write(make([]byte, 1<<20))
		}
		ended <- time.Since(begin)
	}
	serve(t, server.Options{Handler: http.HandlerFunc(large)}, func(t *testing.T, w *world) {
		ended = make(chan time.Duration, 1)
		conn, err := w.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		if after := <-ended; after != 30*time.Second {
			t.Errorf("dropped after %s", after)
		}
		conn.Close()
	})
}

func TestPanicsAreNotRevealed(t *testing.T) {
	h := http.NewServeMux()
	h.HandleFunc("/early", func(http.ResponseWriter, *http.Request) { panic("secret /etc/path") })
	h.HandleFunc("/late", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("part"))
		panic("secret /etc/path")
	})
	serve(t, server.Options{Handler: h}, func(t *testing.T, w *world) {
		res, body := w.get("/early", "X-Request-Id", "r1")
		if res.StatusCode != 500 || strings.Contains(body, "secret") || !strings.Contains(body, "request r1") {
			t.Errorf("%d %s", res.StatusCode, body)
		}
		res, err := w.client.Do(w.request(http.MethodGet, "/late", nil))
		if err == nil {
			_, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		if err == nil {
			t.Error("a response that a panic cut short looks complete")
		}
		if log := w.log.String(); strings.Count(log, `"msg":"panic"`) < 2 || !strings.Contains(log, "secret /etc/path") || !strings.Contains(log, `"request_id":"r1"`) || !strings.Contains(log, `"aborted":true`) {
			t.Error(log)
		}
	})
}

func TestAccessLog(t *testing.T) {
	tokens, err := auth.NewTokens([]auth.Token{{Name: "ci", SHA256: "f2ca1bb6c7e907d06dafe4687e579fce76b37e4e93b7605022da52e6ccc26fd2", Roles: []string{auth.Run}}}) // "test\n"
	if err != nil {
		t.Fatal(err)
	}
	guard, err := auth.New(auth.Options{Tokens: tokens, DefaultTenant: "shared"})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, server.Options{Handler: http.HandlerFunc(echo), Auth: guard}, func(t *testing.T, w *world) {
		for _, id := range []string{"", "client-1", "bad\tid", strings.Repeat("x", 129)} {
			res, _ := w.send(w.request(http.MethodPost, "/v1/a%0Ab?token=hidden-query", strings.NewReader("hidden-body"),
				"Authorization", "Bearer hidden-token", "X-Request-Id", id))
			if got := res.Header.Get("X-Request-Id"); (got == id) != (id == "client-1") || got == "" {
				t.Errorf("request id %q: %q", id, got)
			}
		}
		synctest.Wait()
		log := w.log.String()
		if strings.Contains(log, "hidden") || strings.Count(log, "\n") != 4 {
			t.Error(log)
		}
		if want := `"msg":"request","request_id":"client-1","method":"POST","path":"/v1/a\nb","status":401,"bytes":`; !strings.Contains(log, want) {
			t.Error(log)
		}
		w.get("/healthz")
		synctest.Wait()
		if added := strings.TrimPrefix(w.log.String(), log); !strings.Contains(added, `"level":"DEBUG"`) {
			t.Error(added)
		}
	})
}

func TestAccessLogNamesTheIdentity(t *testing.T) {
	guard, err := auth.New(auth.Options{DefaultTenant: "shared"})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, server.Options{Handler: http.HandlerFunc(echo), Auth: guard}, func(t *testing.T, w *world) {
		w.get("/v1/runs")
		synctest.Wait()
		if log := w.log.String(); !strings.Contains(log, `"subject":"anonymous","tenant":"shared"`) {
			t.Error(log)
		}
	})
}

// At shutdown requests in flight complete, then Drain ends the runs, and what streams
// remain are ended.
func TestGracefulShutdown(t *testing.T) {
	streams, f := feed.NewStreams(2, 0), feed.New()
	f.Send(feedEvent(1))
	var drained chan struct{}
	h := http.NewServeMux()
	h.HandleFunc("/wait", func(w http.ResponseWriter, _ *http.Request) {
		<-drained
		_, _ = w.Write([]byte("complete"))
	})
	stream := func(f *feed.Feed) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			ctx, release, err := streams.Open(r.Context(), "")
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			if err := feed.Write(w, r, f.Watch(ctx, feed.Cursor{}, true), feed.JSONLines); err != nil {
				t.Error(err)
			}
		}
	}
	h.Handle("/run", stream(f))
	h.Handle("/idle", stream(feed.New())) // nothing ends this feed
	var s *server.Server
	o := server.Options{Handler: h, Streams: streams, Drain: func(context.Context) {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		if w.Code != 503 || !strings.Contains(w.Body.String(), `"code":"shutting_down"`) {
			t.Errorf("readyz: %d %s", w.Code, w.Body)
		}
		f.End("suspended")
		close(drained)
	}}
	serve(t, o, func(t *testing.T, w *world) {
		s, drained = w.server, make(chan struct{})
		bodies := map[string]chan string{"/wait": nil, "/run": nil, "/idle": nil}
		for path := range bodies {
			c := make(chan string, 1)
			bodies[path] = c
			go func() {
				_, body := w.get(path)
				c <- body
			}()
		}
		synctest.Wait()
		begin := time.Now()
		w.stop()
		for path, want := range map[string]string{"/wait": "complete", "/run": `{"type":"end","status":"suspended"}` + "\n", "/idle": ""} {
			if got := <-bodies[path]; !strings.HasSuffix(got, want) {
				t.Errorf("%s: %q", path, got)
			}
		}
		if err := <-w.done; err != nil || time.Since(begin) > time.Second {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
		if _, err := w.dial(t.Context(), "", ""); err == nil {
			t.Error("a connection was accepted after the shutdown")
		}
	})
}

func TestShutdownAbortsRequestsAfterTheGracePeriod(t *testing.T) {
	var aborted chan time.Time
	h := func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		aborted <- time.Now()
	}
	serve(t, server.Options{Handler: http.HandlerFunc(h), Grace: 7 * time.Second}, func(t *testing.T, w *world) {
		aborted = make(chan time.Time, 1)
		go func() {
			if res, err := w.client.Do(w.request(http.MethodGet, "/", nil)); err == nil {
				res.Body.Close()
				t.Error("the request completed")
			}
		}()
		synctest.Wait()
		begin := time.Now()
		w.stop()
		if err := <-w.done; err != nil || time.Since(begin) != 7*time.Second {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
		if after := (<-aborted).Sub(begin); after != 7*time.Second {
			t.Errorf("aborted after %s", after)
		}
		if !strings.Contains(w.log.String(), "requests in flight were aborted") {
			t.Error(w.log)
		}
	})
}

func TestFailedListener(t *testing.T) {
	s, err := server.New(server.Options{Handler: http.HandlerFunc(echo)})
	if err != nil {
		t.Fatal(err)
	}
	ln := newPipes()
	ln.Close()
	if err := s.Serve(t.Context(), ln); err == nil {
		t.Error("no error")
	}
}
