package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/tool"
)

// outcome returns what an error says about the effect of a call.
func outcome(err error) string {
	_, unknown := errors.AsType[*tool.UnknownOutcomeError](err)
	_, definite := errors.AsType[*tool.DefiniteError](err)
	switch {
	case err == nil:
		return "ok"
	case unknown:
		return "unknown"
	case definite:
		return "definite"
	}
	return "plain"
}

// broken starts a server that fails in the way the request path names, after it has read
// the request and sent to got.
func broken(t *testing.T) (base string, got chan struct{}) {
	t.Helper()
	got = make(chan struct{}, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch how := strings.Trim(r.URL.Path, "/"); how {
		case "eof", "reset":
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			if how == "reset" {
				_ = conn.(*net.TCPConn).SetLinger(0)
			}
			conn.Close()
		case "cut", "cut-refusal":
			w.Header().Set("Content-Length", "100")
			if how == "cut-refusal" {
				w.WriteHeader(http.StatusInternalServerError)
			}
			_, _ = w.Write([]byte("begun"))
		case "large":
			_, _ = w.Write([]byte(strings.Repeat("x", 4096)))
		case "binary":
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte{0, 1, 2, 0xff})
		case "hang":
			got <- struct{}{}
			<-r.Context().Done()
		case "404":
			w.WriteHeader(http.StatusNotFound)
		case "503":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			_, _ = w.Write([]byte("booked"))
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

// A request that was sent but not answered may have taken effect. One that was answered,
// or not sent, has a known outcome.
func TestRequestOutcome(t *testing.T) {
	base, got := broken(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	cases := []struct{ url, post, get string }{
		{base + "/ok", "ok", "ok"},
		{base + "/eof", "unknown", "definite"},
		{base + "/reset", "unknown", "definite"},
		{base + "/cut", "unknown", "definite"},
		{base + "/hang", "unknown", "definite"},
		{base + "/cut-refusal", "definite", "definite"},
		{base + "/404", "definite", "definite"},
		{base + "/503", "definite", "definite"},
		{base + "/large", "ok", "definite"},
		{base + "/binary", "ok", "definite"},
		{gone.URL, "definite", "definite"},
	}
	for _, c := range cases {
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(u.Path, func(t *testing.T) {
			ask := func(x tool.Tool, args string) error {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if u.Path == "/hang" {
					go func() { <-got; cancel() }()
				}
				_, err := x.Call(ctx, &tool.Call{Args: json.RawMessage(args)})
				return err
			}
			authors := newTool(t, builtintool.HTTP, tool.Settings{}, func(c *builtintool.HTTPConfig) {
				c.Method, c.URL, c.MaxBytes = "POST", template(t, u.String()), 1024
			})
			if err := ask(authors, "{}"); outcome(err) != c.post {
				t.Errorf("http: %s: %v", outcome(err), err)
			}
			models := newTool(t, builtintool.HTTPRequest, tool.Settings{}, func(c *builtintool.HTTPRequestConfig) {
				c.AllowHosts, c.Methods, c.MaxBytes = []string{u.Host}, []string{"GET", "POST"}, 1024
			})
			for method, want := range map[string]string{"POST": c.post, "GET": c.get} {
				args, err := json.Marshal(map[string]string{"url": u.String(), "method": method})
				if err != nil {
					t.Fatal(err)
				}
				if err := ask(models, string(args)); outcome(err) != want {
					t.Errorf("http_request %s: %s: %v", method, outcome(err), err)
				}
			}
		})
	}
}

// A program that was stopped or killed may have done part of its work. One that ended by
// itself has a known outcome.
func TestCommandOutcome(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	missing := newTool(t, builtintool.Command, tool.Settings{Dir: t.TempDir()}, func(c *builtintool.CommandConfig) { c.Argv = templates(t, "no-such-program") })
	cases := []struct {
		name string
		ctx  context.Context
		tool tool.Tool
		want string
	}{
		{"it ends well", t.Context(), recorder(t, "record", nil), "ok"},
		{"it ends with a status", t.Context(), recorder(t, "fail", nil), "plain"},
		{"it is killed", t.Context(), recorder(t, "die", nil), "unknown"},
		{"there is no such program", t.Context(), missing, "definite"},
		{"it is too late to start it", over, recorder(t, "record", nil), "definite"},
	}
	for _, c := range cases {
		if _, err := c.tool.Call(c.ctx, &tool.Call{Args: json.RawMessage("{}")}); outcome(err) != c.want {
			t.Errorf("%s: %s: %v", c.name, outcome(err), err)
		}
	}
	if err := stoppedCommand(t); outcome(err) != "unknown" {
		t.Errorf("stopped: %s: %v", outcome(err), err)
	}
}

// stoppedCommand returns the error of a command that is stopped while it works.
func stoppedCommand(t *testing.T) error {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "said")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go func() {
		if f, err := os.Open(fifo); err == nil { // blocks until the child opens it
			f.Close()
		}
		cancel()
	}()
	_, err := recorder(t, "hang", nil, fifo).Call(ctx, &tool.Call{Args: json.RawMessage("{}")})
	return err
}
