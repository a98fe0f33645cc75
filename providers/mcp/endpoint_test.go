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

// Servers of the protocol's first version have a stream to listen to, and
// refuse messages where it is.
func TestServerOfTheFirstVersion(t *testing.T) {
	at := httptest.NewServer(sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return catalogue("", nil) }, nil))
	t.Cleanup(at.Close)
	set := toolset(t, func(c *mcp.Config, _ *tool.Settings) { c.URL.Text = at.URL })
	out, err := call(context.Background(), bound(t, set, "echo"), `{"text":"hi"}`)
	if err != nil || out.Text != "you said: hi" {
		t.Errorf("output %v, error %v", out, err)
	}
	set.Close() // before the server, which waits for its streams
}

func TestServersThatKeepSessionsOrDoNot(t *testing.T) {
	for _, o := range []sdk.StreamableHTTPOptions{{}, {Stateless: true}, {JSONResponse: true}} {
		at := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return catalogue("", nil) }, &o))
		t.Cleanup(at.Close)
		set := toolset(t, func(c *mcp.Config, _ *tool.Settings) { c.URL.Text = at.URL })
		out, err := call(context.Background(), bound(t, set, "echo"), `{"text":"hi"}`)
		if err != nil || out.Text != "you said: hi" {
			t.Errorf("%+v: output %v, error %v", o, out, err)
		}
		set.Close()
	}
}

// A server that forgot the session is asked anew by the next call.
func TestForgottenSession(t *testing.T) {
	handler := func() http.Handler {
		return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return catalogue("", nil) }, nil)
	}
	current := handler()
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { current.ServeHTTP(w, r) }))
	t.Cleanup(at.Close)
	set := toolset(t, func(c *mcp.Config, _ *tool.Settings) { c.URL.Text = at.URL })
	echo := bound(t, set, "echo")
	if _, err := call(context.Background(), echo, `{"text":"hi"}`); err != nil {
		t.Fatal(err)
	}
	at.CloseClientConnections()
	current = handler()
	for range 3 { // the first may find out
		if out, err := call(context.Background(), echo, `{"text":"hi"}`); err == nil && out.Text == "you said: hi" {
			return
		} else if !unavailable(err) {
			t.Errorf("it is not told as the server's trouble: %v", err)
		}
	}
	t.Error("the server was not asked anew")
}

func TestParametersAreOnePartOfTheAddress(t *testing.T) {
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
		t.Errorf("asked %s", got)
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
	if _, err := call(context.Background(), bound(t, set, "echo"), `{"text":"hi"}`); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	set.Close()
	if took := time.Since(began); took > 20*time.Second { // a busy machine has its time
		t.Errorf("closing took %s", took)
	}
	for range 1000 { // they end a moment after what they wait for
		if ours() <= before {
			return
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", ours(), before)
}
