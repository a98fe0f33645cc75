package opensearch_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/builtins/tool/opensearch"
	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

type args = map[string]any

// recordedRequest is a request as the cluster received it. The path is not unescaped, except for *.
type recordedRequest struct {
	Method, Path, Query, Body string
	header                    http.Header
}

// cluster returns the same response to every request and records the requests.
type cluster struct {
	base     string
	mu       sync.Mutex
	requests []recordedRequest
}

func newCluster(t testing.TB, status int, answer string) *cluster {
	t.Helper()
	c := &cluster{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		c.requests = append(c.requests, recordedRequest{r.Method, strings.ReplaceAll(r.URL.EscapedPath(), "%2A", "*"), r.URL.RawQuery, string(body), r.Header})
		c.mu.Unlock()
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	c.base = s.URL
	return c
}

// take returns the requests since the last call.
func (c *cluster) take() []recordedRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.requests
	c.requests = nil
	return out
}

// settings are the settings of all three tools, and two of search.
type settings struct {
	url     string
	auth    opensearch.Auth
	indices []string
	private bool
	bytes   int64
	scripts bool
	hits    int
}

// build creates a tool as a spec would.
func build(t testing.TB, name string, c settings, s tool.Settings, sign opensearch.Signer) (tool.Tool, error) {
	t.Helper()
	f, ok := opensearch.All(sign).Find(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	config := f.Config()
	switch to := config.(type) {
	case *opensearch.Config:
		to.URL, to.Indices, to.AllowPrivate = template(t, c.url), c.indices, c.private
		if c.auth.Type != "" {
			to.Auth = c.auth
		}
		if c.bytes > 0 {
			to.MaxBytes = c.bytes
		}
	case *opensearch.SearchConfig:
		to.URL, to.Indices, to.AllowPrivate, to.AllowScripts = template(t, c.url), c.indices, c.private, c.scripts
		if c.auth.Type != "" {
			to.Auth = c.auth
		}
		if c.bytes > 0 {
			to.MaxBytes = c.bytes
		}
		if c.hits > 0 {
			to.MaxHits = c.hits
		}
	}
	return f.Build(config, s)
}

func newTool(t testing.TB, name string, c settings) tool.Tool {
	t.Helper()
	tool, err := build(t, name, c, tool.Settings{Env: func(string) string { return "" }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func call(t testing.TB, one tool.Tool, a args) (*tool.Output, error) {
	t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return one.Call(t.Context(), &tool.Call{Args: raw})
}

// fails checks that a call returns an error that contains want.
func fails(t testing.TB, tool tool.Tool, a args, want string) {
	t.Helper()
	out, err := call(t, tool, a)
	if err == nil {
		t.Errorf("%v gave %+v, want an error with %q", a, out, want)
	} else if !strings.Contains(err.Error(), want) {
		t.Errorf("%v: error %q, want %q in it", a, err, want)
	}
}

// template compiles a template as the dsl does.
func template(t testing.TB, src string) component.Template {
	t.Helper()
	p, problems := prompt.Parse(src, prompt.Options{Namespaces: []string{"env"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	out := component.Template{Text: src}
	out.Bind(p.Render)
	return out
}

func file(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names maps the tools to functions that return arguments with an index.
var names = map[string]func(index any) args{
	"opensearch_list_index":    func(index any) args { return args{"indices": []any{index}} },
	"opensearch_index_mapping": func(index any) args { return args{"index": index} },
	"opensearch_search":        func(index any) args { return args{"index": index, "query": args{"query": args{"match_all": args{}}}} },
}
