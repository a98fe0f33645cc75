package tool_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// requester returns an http_request tool that may call a server with all methods.
func requester(t *testing.T, base string, edit func(*builtintool.HTTPRequestConfig)) tool.Tool {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	return newTool(t, builtintool.HTTPRequest, tool.Settings{Env: machineOf("KEY", "s3cret")}, func(c *builtintool.HTTPRequestConfig) {
		c.AllowHosts, c.Methods = []string{u.Host}, []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
		c.Headers = map[string]component.Template{"X-Key": template(t, "${env.KEY}")}
		if edit != nil {
			edit(c)
		}
	})
}

func TestHTTPRequest(t *testing.T) {
	base, last := service(t)
	made := requester(t, base, func(c *builtintool.HTTPRequestConfig) { c.AllowHeaders = []string{"x-trace"} })
	none := map[string][]string{}
	tests := []struct {
		name string
		args args
		want recordedRequest
		kind string // Content-Type
	}{
		{"the default", args{"url": base + "/x"}, recordedRequest{Method: "GET", Path: "/x", Query: none}, ""},
		{
			"a query",
			args{"url": base + "/x?a=1", "query": args{"q": "a&b", "n": 12345678901234567, "list": []any{"x", true}, "none": nil}},
			recordedRequest{Method: "GET", Path: "/x", Query: map[string][]string{"a": {"1"}, "q": {"a&b"}, "n": {"12345678901234567"}, "list": {"x", "true"}}},
			"",
		},
		{"an object", args{"method": "POST", "url": base + "/x", "body": args{"a": 1}}, recordedRequest{Method: "POST", Path: "/x", Query: none, Body: `{"a":1}`}, "application/json"},
		{"JSON in a text", args{"method": "put", "url": base + "/x", "body": `{"a": 1}`}, recordedRequest{Method: "PUT", Path: "/x", Query: none, Body: `{"a": 1}`}, "application/json"},
		{"a text", args{"method": "PATCH", "url": base + "/x", "body": "hi"}, recordedRequest{Method: "PATCH", Path: "/x", Query: none, Body: "hi"}, "text/plain; charset=utf-8"},
		{"a kind of text", args{"method": "POST", "url": base + "/x", "body": "<a/>", "headers": args{"content-type": "text/xml"}}, recordedRequest{Method: "POST", Path: "/x", Query: none, Body: "<a/>"}, "text/xml"},
		{"no body", args{"method": "DELETE", "url": base + "/x", "body": nil, "headers": args{"X-Trace": "1"}}, recordedRequest{Method: "DELETE", Path: "/x", Query: none}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := text(t, made, tt.args); got != `{"items":[{"name":"a"},{"name":"b"}],"total":2}` {
				t.Errorf("gave %s", got)
			}
			header := last.Header
			last.Header = nil
			if diff := cmp.Diff(&tt.want, last); diff != "" {
				t.Error(diff)
			}
			if header.Get("Content-Type") != tt.kind || header.Get("X-Key") != "s3cret" || (header.Get("Idempotency-Key") != "") != (tt.want.Method != "GET") {
				t.Errorf("headers %v", header)
			}
		})
	}
	if got := text(t, made, args{"method": "HEAD", "url": base + "/x"}); !strings.Contains(got, `"status":200`) || !strings.Contains(got, `"Content-Type":"application/json"`) {
		t.Errorf("HEAD gave %s", got)
	}
	if got := text(t, made, args{"method": "POST", "url": base + "/moved"}); !strings.HasPrefix(got, "307 Temporary Redirect") {
		t.Errorf("a redirected write returned %s", got)
	}
}

func TestHTTPRequestRejectsInvalidCalls(t *testing.T) {
	base, last := service(t)
	made := requester(t, base, func(c *builtintool.HTTPRequestConfig) { c.Methods = []string{"GET", "POST"} })
	fails(t, made, args{"url": base + "/gone"}, `410 Gone: it is gone`)
	*last = recordedRequest{}
	for _, tt := range []struct {
		args args
		want string
	}{
		{args{"url": base, "method": "DELETE"}, `method "DELETE" is not allowed; allowed methods: GET, POST`},
		{args{"url": base, "method": "TRACE"}, "is not allowed"},
		{args{"url": base, "method": "GET /admin HTTP/1.1\r\nX: y"}, "is not allowed"},
		{args{"url": base, "body": "x"}, "GET requests have no body"},
		{args{"url": base, "query": args{"a": args{"b": 1}}}, `"query" contains an object`},
		{args{"url": base, "headers": args{"X-Key": "mine"}}, `header "X-Key" is not allowed`},
		{args{"url": base, "headers": args{"authorization": "Bearer mine"}}, "is not allowed"},
		{args{"url": base, "headers": args{"Cookie": "a=b"}}, "is not allowed"},
		{args{"url": base, "headers": args{"Host": "inside"}}, "is not allowed"},
		{args{"url": base, "headers": args{"Idempotency-Key": "mine"}}, "is not allowed"},
		{args{"url": base, "headers": args{"Metadata-Flavor": "Google"}}, "is not allowed"},
		{args{"url": base, "headers": args{"Accept\r\nX": "y"}}, "is not allowed"},
		{args{"url": base, "headers": args{"Accept": "x\r\nX-Key: y"}}, "line break"},
		{args{"url": base, "headers": "Accept: x"}, `"headers" must be an object`},
		{args{"url": base, "Method": "POST"}, "unknown argument"},
		{args{"url": "http://example.org/"}, "not among the allowed hosts"},
	} {
		fails(t, made, tt.args, tt.want)
	}
	if last.Method != "" {
		t.Errorf("the server received %+v", last)
	}
}

// Settings that let a model do more than read public pages require allow_hosts.
func TestHTTPRequestRequiresHosts(t *testing.T) {
	for at, edit := range map[string]func(*builtintool.HTTPRequestConfig){
		"/methods": func(c *builtintool.HTTPRequestConfig) { c.Methods = []string{"GET", "POST"} },
		"/headers": func(c *builtintool.HTTPRequestConfig) {
			c.Headers = map[string]component.Template{"X-Key": {Text: "k"}}
		},
		"/allow_private":   func(c *builtintool.HTTPRequestConfig) { c.AllowPrivate = true },
		"/allow_headers/0": func(c *builtintool.HTTPRequestConfig) { c.AllowHeaders = []string{"host"} },
	} {
		for _, hosts := range [][]string{nil, {"*"}, {"example.org", "*.*:443"}} {
			_, err := try(builtintool.HTTPRequest, tool.Settings{}, func(c *builtintool.HTTPRequestConfig) {
				edit(c)
				c.AllowHosts = hosts
			})
			if faults, ok := errors.AsType[component.Faults](err); !ok || faults[0].At != at {
				t.Errorf("%s, hosts %v: %v", at, hosts, err)
			}
		}
	}
	read := newTool[builtintool.HTTPRequestConfig](t, builtintool.HTTPRequest, tool.Settings{}, nil).Info()
	write := requester(t, "http://example.org", nil).Info()
	if read.Effect != tool.ReadEffect || write.Effect != tool.WriteEffect {
		t.Errorf("effects %s and %s", read.Effect, write.Effect)
	}
	var schema struct{ Properties map[string]any }
	if err := json.Unmarshal(read.Input, &schema); err != nil || schema.Properties["body"] != nil || schema.Properties["query"] == nil {
		t.Errorf("%v: %s", err, read.Input)
	}
}
