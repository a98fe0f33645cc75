package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/mcp"
)

// Servers of the first protocol version serve a stream at the URL and reject messages there.
func TestServerOfTheFirstProtocolVersion(t *testing.T) {
	at := httptest.NewServer(sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return catalogue("", nil) }, nil))
	t.Cleanup(at.Close)
	set := toolset(t, func(c *mcp.Config, _ *tool.Settings) { c.URL.Text = at.URL })
	out, err := call(context.Background(), find(t, set, "echo"), `{"text":"hi"}`)
	if err != nil || out.Text != "you said: hi" {
		t.Errorf("output %v, error %v", out, err)
	}
	set.Close() // before the server, which waits for its streams
}

func TestStatefulAndStatelessServers(t *testing.T) {
	for _, o := range []sdk.StreamableHTTPOptions{{}, {Stateless: true}, {JSONResponse: true}} {
		at := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return catalogue("", nil) }, &o))
		t.Cleanup(at.Close)
		set := toolset(t, func(c *mcp.Config, _ *tool.Settings) { c.URL.Text = at.URL })
		out, err := call(context.Background(), find(t, set, "echo"), `{"text":"hi"}`)
		if err != nil || out.Text != "you said: hi" {
			t.Errorf("%+v: output %v, error %v", o, out, err)
		}
		set.Close()
	}
}

// A call after the server lost the session starts a new one.
func TestLostSessionIsReopened(t *testing.T) {
	handler := func() http.Handler {
		return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return catalogue("", nil) }, nil)
	}
	current := handler()
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { current.ServeHTTP(w, r) }))
	t.Cleanup(at.Close)
	set := toolset(t, func(c *mcp.Config, _ *tool.Settings) { c.URL.Text = at.URL })
	echo := find(t, set, "echo")
	if _, err := call(context.Background(), echo, `{"text":"hi"}`); err != nil {
		t.Fatal(err)
	}
	at.CloseClientConnections()
	current = handler()
	for range 3 { // the first may find out
		if out, err := call(context.Background(), echo, `{"text":"hi"}`); err == nil && out.Text == "you said: hi" {
			return
		} else if !unavailable(err) {
			t.Errorf("not marked as unavailable: %v", err)
		}
	}
	t.Error("the session was not reopened")
}

func TestParameterFillsOnePathSegment(t *testing.T) {
	paths := make(chan string, 10)
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths <- r.URL.EscapedPath()
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(at.Close)
	set := toolset(t, func(c *mcp.Config, _ *tool.Settings) {
		c.URL = component.Template{Text: at.URL + "/${parameters.p}/mcp"}
		c.URL.Bind(func(l component.Lookup) []string {
			v, _ := l("parameters", "p")
			s, _ := v.(string)
			return []string{at.URL, "/", s, "/mcp"}
		})
	})
	_, err := set.List(context.Background(), &tool.Call{Lookup: func(ns, name string) (any, bool) { return "../admin?x", true }})
	if err == nil {
		t.Fatal("no error")
	}
	if got := <-paths; got != "/..%2Fadmin%3Fx/mcp" {
		t.Errorf("requested %s", got)
	}
}

func TestClosedConnectionLeavesNoGoroutine(t *testing.T) {
	at := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return catalogue("", nil) }, nil))
	t.Cleanup(at.Close)
	ours := func() (n int) {
		buf := make([]byte, 1<<20)
		for one := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(one, "http.(*persistConn)") || strings.Contains(one, "streamableClientConn") || strings.Contains(one, "providers/mcp.(*") {
				n++
			}
		}
		return n
	}
	before := ours()
	set := toolset(t, func(c *mcp.Config, _ *tool.Settings) { c.URL.Text = at.URL })
	if _, err := call(context.Background(), find(t, set, "echo"), `{"text":"hi"}`); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	set.Close()
	if took := time.Since(start); took > 20*time.Second { // allows for a slow machine
		t.Errorf("closing took %s", took)
	}
	for range 1000 { // they end shortly after what they wait for
		if ours() <= before {
			return
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", ours(), before)
}
