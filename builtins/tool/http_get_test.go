package tool_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// Offline, no request is sent, and the error suggests a fix.
func TestHTTPGetOffline(t *testing.T) {
	base, asked := site(t)
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	get := newTool(t, builtintool.HTTPGet, tool.Settings{Offline: true}, func(c *builtintool.HTTPGetConfig) { c.AllowHosts = []string{u.Host} })
	_, err = get.Call(t.Context(), &tool.Call{Args: json.RawMessage(`{"url":"` + base + `/page"}`)})
	if err == nil || !strings.Contains(err.Error(), "offline") || !strings.Contains(err.Error(), "run.tools.http_get") || asked.Load() != 0 {
		t.Errorf("got error %v and %d requests", err, asked.Load())
	}
}

// site serves one response per path.
func site(t *testing.T) (base string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	answers := map[string]struct {
		status int
		media  string
		body   string
	}{
		"/page":    {200, "text/html; charset=utf-8", "<title>T</title><h1>Hi</h1><p><a href='/x'>X</a><script>no</script>"},
		"/latin":   {200, "text/html; charset=ISO-8859-1", "caf\xe9"},
		"/json":    {200, "application/json", " {\"a\": 1.10}\n"},
		"/problem": {404, "application/problem+json", `{"title":"gone"}`},
		"/badjson": {200, "application/json", "{"},
		"/text":    {200, "text/plain", "a\xffb"},
		"/none":    {204, "", ""},
		"/png":     {200, "image/png", "\x89PNG\r\n\x1a\n\x00"},
		"/lies":    {200, "text/plain", "a\x00b"},
		"/error":   {500, "text/html", "<h1>Oh</h1>" + strings.Repeat("long ", 1000)},
		"/big":     {200, "text/plain", strings.Repeat("x", 5<<20)},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch r.URL.Path {
		case "/echo":
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode([]string{r.Method, r.Header.Get("X-Key"), r.UserAgent()})
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/plain")
			z := gzip.NewWriter(w)
			_, _ = io.CopyN(z, zeros{}, 16<<20)
			z.Close()
		case "/hang":
			<-r.Context().Done()
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/out":
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
		default:
			a := answers[r.URL.Path]
			w.Header().Set("Content-Type", a.media)
			w.WriteHeader(a.status)
			_, _ = io.WriteString(w, a.body)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func getter(t *testing.T, base string, edit func(*builtintool.HTTPGetConfig)) tool.Tool {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	s := tool.Settings{UserAgent: "pex-test", Env: machineOf("KEY", "s3cret")}
	return newTool(t, builtintool.HTTPGet, s, func(c *builtintool.HTTPGetConfig) {
		c.AllowHosts = []string{u.Host}
		if edit != nil {
			edit(c)
		}
	})
}

func machineOf(name, value string) func(string) string {
	return func(n string) string {
		if n == name {
			return value
		}
		return ""
	}
}

func TestHTTPGet(t *testing.T) {
	base, _ := site(t)
	get := getter(t, base, nil)
	tests := []struct {
		path string
		want tool.Output
	}{
		{"/page", tool.Output{Text: "Title: T\n\n# Hi\n\nX (" + base + "/x)"}},
		{"/latin", tool.Output{Text: "café"}},
		{"/json", tool.Output{Data: json.RawMessage(`{"a": 1.10}`)}},
		{"/badjson", tool.Output{Text: "{"}},
		{"/text", tool.Output{Text: "a\uFFFDb"}},
		{"/none", tool.Output{}},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			out, err := call(t, get, args{"url": base + tt.path})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, out); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHTTPGetFailures(t *testing.T) {
	base, _ := site(t)
	get := getter(t, base, nil)
	for path, want := range map[string]string{
		"/problem": `404 Not Found: {"title":"gone"}`,
		"/error":   "500 Internal Server Error: # Oh",
		"/png":     "the response is image/png (9 bytes), which is not text",
		"/lies":    "which is not text",
		"/big":     "the body is larger than",
		"/bomb":    "the body is larger than",
		"/loop":    "redirected more than",
	} {
		fails(t, get, args{"url": base + path}, want)
	}
	if _, err := call(t, get, args{"url": base + "/error"}); len(err.Error()) > 1500 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
	for _, bad := range []string{"", "example.com", "ftp://example.com/x", "file:///etc/passwd", "http://", "https:///x", "gopher://x", "http://[::1", "http://a b/"} {
		if out, err := call(t, get, args{"url": bad}); err == nil {
			t.Errorf("%q gave %+v", bad, out)
		}
	}
}

func TestHTTPGetEndsWithItsContext(t *testing.T) {
	base, _ := site(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	raw, err := json.Marshal(args{"url": base + "/hang"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := getter(t, base, nil).Call(ctx, &tool.Call{Args: raw}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the deadline", err)
	}
}

func TestHTTPGetSendsTheAuthorsHeaders(t *testing.T) {
	base, _ := site(t)
	get := getter(t, base, func(c *builtintool.HTTPGetConfig) {
		c.Headers = map[string]component.Template{"X-Key": template(t, "Bearer ${env.KEY}")}
	})
	if got := text(t, get, args{"url": base + "/echo"}); got != `["GET","Bearer s3cret","pex-test"]` {
		t.Errorf("%s", got)
	}
	for _, hosts := range [][]string{nil, {"*"}, {"example.org", "*.*"}, {"*:443"}, {"[*]:443"}} {
		_, err := try(builtintool.HTTPGet, tool.Settings{}, func(c *builtintool.HTTPGetConfig) {
			c.AllowHosts, c.Headers = hosts, map[string]component.Template{"X-Key": {Text: "k"}}
		})
		if err == nil || !strings.Contains(err.Error(), "list their hosts in allow_hosts") {
			t.Errorf("%v: error %v", hosts, err)
		}
	}
}

func TestHTTPGetReachesOnlyAllowedHosts(t *testing.T) {
	base, asked := site(t)
	port := base[strings.LastIndexByte(base, ':'):]
	open := newTool[builtintool.HTTPGetConfig](t, builtintool.HTTPGet, tool.Settings{}, nil)
	for _, at := range []string{
		base, "http://localhost" + port, "http://127.1" + port, "http://2130706433" + port, "http://0x7f000001" + port, "http://[::1]" + port, "http://[::ffff:127.0.0.1]" + port,
		"http://0.0.0.0" + port, "http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://10.0.0.1/", "http://user:pw@127.0.0.1" + port,
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		raw, err := json.Marshal(args{"url": at + "/page"})
		if err != nil {
			t.Fatal(err)
		}
		if out, err := open.Call(ctx, &tool.Call{Args: raw}); err == nil {
			t.Errorf("%s gave %+v", at, out)
		} else if strings.Contains(err.Error(), ":pw@") {
			t.Errorf("the error shows the password: %v", err)
		}
		cancel()
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the server received %d requests", n)
	}
	fails(t, getter(t, base, nil), args{"url": base + "/out?to=" + url.QueryEscape("http://localhost"+port+"/page")}, "not among the allowed hosts")
}
