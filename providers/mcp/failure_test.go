package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/mcp"
)

func unavailable(err error) bool {
	_, ok := errors.AsType[*tool.UnavailableError](err)
	return ok
}

// patience is the maximum time, on a busy machine, for anything that should end at once. Waiting would take a minute.
const patience = 40 * time.Second

// checkError checks the parts of an error and that it came in time since start.
func checkError(t *testing.T, err error, start time.Time, parts ...string) {
	t.Helper()
	if took := time.Since(start); took > patience {
		t.Errorf("it took %s", took)
	}
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range parts {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in the error: %v", want, err)
		}
	}
}

func TestFailedStartIsExplained(t *testing.T) {
	tests := []struct {
		name, mode string
		change     func(*mcp.Config)
		want       []string
	}{
		{"mute", "mute", func(c *mcp.Config) { c.StartTimeout = 2 * time.Second }, []string{"start_timeout", "stderr: still loading"}},
		{"dies", "dies", nil, []string{"cannot be used", "exit status 3", "no database"}},
		{"no program", "", func(c *mcp.Config) { c.Command = component.Value{JSON: []byte(`["no-such-program"]`)} }, []string{"program no-such-program not found"}},
		{"unset", "", func(c *mcp.Config) { c.Args = []component.Template{unsetReference("TOKEN")} }, []string{"${env.TOKEN}, which has no value"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set := child(t, tt.mode, func(c *mcp.Config, _ *tool.Settings) {
				if tt.change != nil {
					tt.change(c)
				}
			})
			start := time.Now()
			_, err := set.List(context.Background(), &tool.Call{})
			checkError(t, err, start, tt.want...)
		})
	}
}

// unsetReference is a template that refers to an unset environment variable.
func unsetReference(name string) component.Template {
	t := component.Template{Text: "${env." + name + "}"}
	t.Bind(func(l component.Lookup) []string {
		v, _ := l("env", name)
		s, _ := v.(string)
		return []string{s}
	})
	return t
}

func TestBannerIsSkipped(t *testing.T) {
	out, err := call(context.Background(), find(t, child(t, "greets", nil), "echo"), `{"text":"hi"}`)
	if err != nil || out.Text != "you said: hi" {
		t.Errorf("output %v, error %v", out, err)
	}
}

func TestServerIsRestartedAfterCrash(t *testing.T) {
	set := child(t, "plain", nil)
	crash, pid := find(t, set, "crash"), find(t, set, "pid")
	before, err := call(context.Background(), pid, `{"text":""}`)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, err = call(context.Background(), crash, `{"text":""}`)
	checkError(t, err, start, "during the call", "exit status 7", "segmentation fault")
	if !unavailable(err) {
		t.Error("not marked as unavailable")
	}
	after, err := call(context.Background(), pid, `{"text":""}`)
	if err != nil || after.Text == before.Text {
		t.Errorf("process %v after %v, error %v", after, before, err)
	}
}

func TestRestartsStopAfterRepeatedCrashes(t *testing.T) {
	set, note := child(t, "plain", nil), filepath.Join(t.TempDir(), "pid")
	crash, hangUp := find(t, set, "crash"), find(t, set, "hang up")
	for range 4 {
		if _, err := call(context.Background(), crash, `{"text":""}`); !unavailable(err) {
			t.Fatal(err)
		}
	}
	if _, err := call(context.Background(), hangUp, `{"text":"`+note+`"}`); !unavailable(err) {
		t.Fatal(err)
	}
	start := time.Now()
	_, err := call(context.Background(), crash, `{"text":""}`)
	checkError(t, err, start, "5 times in a row", "the next attempt is allowed in 30s", "segmentation fault")
	if err := set.Close(); err != nil {
		t.Error(err)
	}
	raw, err := os.ReadFile(note)
	pid, perr := strconv.Atoi(string(raw))
	if err != nil || perr != nil {
		t.Fatal(err, perr)
	}
	if isRunning(pid) {
		t.Error("the last server is still running")
	}
}

func TestCanceledCallReturnsWhileServerHangs(t *testing.T) {
	for _, tr := range transports {
		for one, args := range map[string]string{"hang": `{"text":""}`, "prompt_hang": `{}`, "read_resource": `{"uri":"note://hang"}`} {
			t.Run(tr.name+" "+one, func(t *testing.T) {
				set := tr.make(t, func(c *mcp.Config, _ *tool.Settings) { c.Resources, c.Prompts = true, []string{"hang"} })
				hang, pid := find(t, set, one), find(t, set, "pid")
				before, err := call(context.Background(), pid, `{"text":""}`)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
				defer cancel()
				start := time.Now()
				_, err = call(ctx, hang, args)
				checkError(t, err, start, "the call was stopped")
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the error does not wrap the context's error: %v", err)
				}
				if after, err := call(context.Background(), pid, `{"text":""}`); err != nil || after.Text != before.Text {
					t.Errorf("the session is unusable: %v, %v", after, err)
				}
			})
		}
	}
}

func TestLongMessageEndsTheConnection(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			set := tr.make(t, func(c *mcp.Config, _ *tool.Settings) { c.MaxMessageBytes = 1 << 20 })
			flood, echo := find(t, set, "flood"), find(t, set, "echo")
			start := time.Now()
			_, err := call(context.Background(), flood, `{"text":""}`)
			checkError(t, err, start)
			if tr.name == "stdio" && !strings.Contains(err.Error(), "exceeds 1048576 bytes (max_message_bytes)") {
				t.Error(err)
			}
			if out, err := call(context.Background(), echo, `{"text":"x"}`); err != nil || out.Text != "you said: x" {
				t.Errorf("the next call: %v, %v", out, err)
			}
		})
	}
}

func TestCloseStopsServerAndCalls(t *testing.T) {
	for _, mode := range []string{"plain", "stubborn"} {
		t.Run(mode, func(t *testing.T) {
			set := child(t, mode, nil)
			out, err := call(context.Background(), find(t, set, "pid"), `{"text":""}`)
			if err != nil {
				t.Fatal(err)
			}
			pid, _ := strconv.Atoi(out.Text)
			hang := find(t, set, "hang")
			var running sync.WaitGroup
			began := make(chan struct{})
			running.Go(func() {
				close(began)
				if _, err := call(context.Background(), hang, `{"text":""}`); err == nil {
					t.Error("the call did not fail")
				}
			})
			<-began
			start := time.Now()
			if err := set.Close(); err != nil {
				t.Error(err)
			}
			running.Wait()
			if took := time.Since(start); took > patience {
				t.Errorf("closing took %s", took)
			}
			if isRunning(pid) {
				t.Error("the server is still running")
			}
			if _, err := call(context.Background(), hang, `{}`); err == nil {
				t.Error("a closed toolset accepted a call")
			}
		})
	}
}

func TestOfflineStartsNothing(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "started")
	set := child(t, "dies once:"+mark, func(_ *mcp.Config, s *tool.Settings) { s.Offline = true })
	_, err := set.List(context.Background(), &tool.Call{})
	checkError(t, err, time.Now(), "offline")
	_, err = call(context.Background(), set.Bind(tool.Definition{Name: "echo"}), `{}`)
	checkError(t, err, time.Now(), "offline")
	if _, err := os.Stat(mark); err == nil {
		t.Error("the server was started")
	}
}

func TestChildHasOnlyDeclaredEnvironment(t *testing.T) {
	t.Setenv("CANARY", "canary-value")
	set := child(t, "plain", func(c *mcp.Config, s *tool.Settings) {
		c.Env["DECLARED"] = component.Template{Text: "yes"}
		c.Env["TOKEN"] = unsetReference("TOKEN")
		s.Env = func(name string) string { return map[string]string{"PATH": "/bin", "SECRET": "s"}[name] }
	})
	out, err := call(context.Background(), find(t, set, "env"), `{"text":""}`)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(out.Text, "\n") {
		switch name, _, _ := strings.Cut(line, "="); name {
		case "DECLARED", "PATH", peerMode, "PEX_CALL", "GOCOVERDIR":
		default:
			t.Errorf("the child has %s", line)
		}
	}
	if !strings.Contains(out.Text, "DECLARED=yes") {
		t.Error("the declared variable is missing")
	}
}

func TestUnauthorizedErrorSuggestsHeaders(t *testing.T) {
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) }))
	t.Cleanup(at.Close)
	set := toolset(t, func(c *mcp.Config, _ *tool.Settings) {
		c.URL.Text = at.URL
		c.Headers = map[string]component.Template{"Authorization": {Text: "Bearer canary-token"}}
	})
	_, err := set.List(context.Background(), &tool.Call{})
	checkError(t, err, time.Now(), "HTTP 401 Unauthorized", "set the required headers")
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("the error contains the key: %v", err)
	}
}

func TestHeadersAreSentOnlyToOwnHost(t *testing.T) {
	var mu sync.Mutex
	received := map[string]string{}
	record := func(host string, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		received[host] = r.Header.Get("X-Key")
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { record("other", r); w.WriteHeader(http.StatusTeapot) }))
	t.Cleanup(other.Close)
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		record("own", r)
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(own.Close)
	for _, allow := range [][]string{nil, {"127.0.0.1"}} {
		set := toolset(t, func(c *mcp.Config, _ *tool.Settings) {
			c.URL.Text, c.AllowHosts = own.URL, allow
			c.Headers = map[string]component.Template{"X-Key": {Text: "key"}}
		})
		if _, err := set.List(context.Background(), &tool.Call{}); err == nil {
			t.Fatal("no error")
		}
		mu.Lock()
		_, requested := received["other"]
		if received["own"] != "key" || received["other"] != "" || requested != (allow != nil) {
			t.Errorf("allowed %q: the headers went to %v", allow, received)
		}
		mu.Unlock()
	}
}

func TestDisguisedPrivateHostIsBlocked(t *testing.T) {
	at := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(at.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(at.URL, "http://"), ":")
	// A host that resolves to this machine but is not written as its address.
	set := toolset(t, func(c *mcp.Config, _ *tool.Settings) { c.URL.Text = "http://0177.0.0.1:" + port })
	if _, err := set.List(context.Background(), &tool.Call{}); err == nil {
		t.Error("a private host was reached")
	}
}
