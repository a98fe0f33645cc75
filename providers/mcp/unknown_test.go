package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/mcp"
)

// failingServer serves the catalogue over HTTP. answer handles the tool calls, unless it is nil.
func failingServer(t *testing.T, answer http.HandlerFunc) tool.Toolset {
	t.Helper()
	end := make(chan struct{})
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return catalogue("", end) }, nil)
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"method":"tools/call"`)) && answer != nil {
			answer(w, r)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { close(end); at.Close() })
	return toolset(t, func(c *mcp.Config, _ *tool.Settings) { c.URL.Text = at.URL })
}

// A call that was sent without a reply may have taken effect. A tool's error and an HTTP error status are definite.
func TestOutcomeOfFailedCall(t *testing.T) {
	hangup := func(w http.ResponseWriter, _ *http.Request) {
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	callOf := func(set tool.Toolset, tool string) func(*testing.T) error {
		return func(t *testing.T) error {
			_, err := call(t.Context(), find(t, set, tool), `{"text":""}`)
			return err
		}
	}
	overHTTP := func(answer http.HandlerFunc) func(*testing.T) error {
		return func(t *testing.T) error {
			return callOf(failingServer(t, answer), "echo")(t)
		}
	}
	hang := func(set func(*testing.T) tool.Toolset) func(*testing.T) error {
		return func(t *testing.T) error {
			one := find(t, set(t), "steps") // sends a notification while it works
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err := one.Call(ctx, &tool.Call{Args: []byte(`{"text":""}`), Progress: func(string) { cancel() }})
			return err
		}
	}
	cases := []struct {
		name    string
		call    func(*testing.T) error
		unknown bool
	}{
		{"stdio: the server dies", func(t *testing.T) error { return callOf(child(t, "plain", nil), "crash")(t) }, true},
		{"stdio: the tool fails", func(t *testing.T) error { return callOf(child(t, "plain", nil), "fail")(t) }, false},
		{"stdio: the call is stopped", hang(func(t *testing.T) tool.Toolset { return child(t, "plain", nil) }), true},
		{"http: the connection ends", overHTTP(hangup), true},
		{"http: a status", overHTTP(status(http.StatusServiceUnavailable)), false},
		{"http: the tool fails", func(t *testing.T) error { return callOf(failingServer(t, nil), "fail")(t) }, false},
		{"http: the call is stopped", hang(func(t *testing.T) tool.Toolset { return failingServer(t, nil) }), true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.call(t)
			if _, unknown := errors.AsType[*tool.UnknownOutcomeError](err); err == nil || unknown != c.unknown {
				t.Errorf("unknown %t: %v", unknown, err)
			}
		})
	}
}
