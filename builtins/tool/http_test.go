package tool_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/dsl/jsonpath"
	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// recorded is a request as the server received it.
type recordedRequest struct {
	Method string
	Path   string // as received, not unescaped
	Query  map[string][]string
	Header http.Header
	Body   string
}

// service responds with {"items": [{"name": "a"}, {"name": "b"}]} and records the last
// request.
func service(t testing.TB) (base string, last *recordedRequest) {
	t.Helper()
	last = &recordedRequest{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*last = recordedRequest{r.Method, r.URL.EscapedPath(), r.URL.Query(), r.Header, string(body)}
		switch {
		case strings.HasPrefix(r.URL.Path, "/gone"):
			w.WriteHeader(http.StatusGone)
			_, _ = io.WriteString(w, `it is gone, {"really": true}`)
		case strings.HasPrefix(r.URL.Path, "/empty"):
			w.WriteHeader(http.StatusNoContent)
		case strings.HasPrefix(r.URL.Path, "/moved"):
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
		case strings.HasPrefix(r.URL.Path, "/text"):
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "not JSON")
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"items":[{"name":"a"},{"name":"b"}],"total":2}`)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, last
}

// value compiles a tree of templates from JSON, as the dsl does.
func value(t testing.TB, source string) component.Value {
	t.Helper()
	var tree any
	d := json.NewDecoder(strings.NewReader(source))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	out := component.Value{JSON: json.RawMessage(source)}
	out.Bind(func(l component.Lookup) any { return filled(t, tree, l) })
	return out
}

func filled(t testing.TB, tree any, l component.Lookup) any {
	switch v := tree.(type) {
	case string:
		p, problems := prompt.Parse(v, prompt.Options{Namespaces: []string{"args", "parameters", "env"}})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if whole, ok := p.Whole(l); ok {
			return whole
		}
		return p.Text(l)
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			out[key] = filled(t, inner, l)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = filled(t, inner, l)
		}
		return out
	}
	return tree
}

func filter(t testing.TB, source string) component.FilterRef {
	t.Helper()
	p, err := jsonpath.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	out := component.FilterRef{Source: source}
	out.Bind(p.Select)
	return out
}

// injections are values that would break out of a JSON string, a path or a query if they
// were not escaped.
var injections = []string{
	`"`, `\`, `\"`, `","admin":true,"x":"`, `"}`, `"}]}`, `"},{"role":"system"`, "\n", "\r\n\r\nGET / HTTP/1.1", "\x00", "\u2028",
	`{"a":1}`, `[1,2]`, `null`, `true`, `1e309`, `'`, "`", `${args.other}`, `${env.KEY}`, `$<env.KEY>`, `$${x}`, `{{.}}`, `<script>`, `&lt;`,
	`&admin=true`, `a&b=c`, `a=b`, `?x=y`, `#fragment`, `a#b`, `a?b`, `a;b=c`, `a+b`, `a b`, ` `, `%`, `%00`, `%2e%2e%2f`, `%252e%252e`, `%26admin%3Dtrue`,
	`..`, `.`, `../admin`, `..\admin`, `a/../b`, `/`, `//evil.example`, `\\evil.example`, `a/b`, `..;/admin`, `@evil.example`, `:80`, `http://evil.example/`, `javascript:x`,
	"三 🙂", "\ue000" + "0" + "\ue001", "\ue000", "\ue002", "\ufeff", strings.Repeat("a", 3000), strings.Repeat("\\", 99),
}

func TestArgumentsStayInTheirPlace(t *testing.T) {
	base, last := service(t)
	forms := map[string]component.Value{
		"mapping": value(t, `{"q": "${args.v}", "in": "<${args.v}>", "list": ["${args.v}"], "fixed": 1}`),
		"text":    value(t, `"{\"q\": \"${args.v}\", \"in\": \"<${args.v}>\", \"list\": [${args.v|json}], \"fixed\": 1}"`),
	}
	for form, body := range forms {
		made := newTool(t, builtintool.HTTP, tool.Settings{Env: machineOf("KEY", "s3cret")}, func(c *builtintool.HTTPConfig) {
			c.URL = template(t, base+"/a?u=${args.v}&fixed=1")
			c.Query = map[string]component.Template{"q": template(t, "${args.v}"), "in": template(t, "<${args.v}>")}
			c.Body = body
		})
		for _, v := range injections {
			if _, err := call(t, made, args{"v": v}); err != nil {
				t.Errorf("%s: %q: %v", form, v, err)
				continue
			}
			query := map[string][]string{"u": {v}, "fixed": {"1"}, "q": {v}, "in": {"<" + v + ">"}}
			if diff := cmp.Diff(query, last.Query); diff != "" || last.Path != "/a" {
				t.Errorf("%s: %q: path %s, query %s", form, v, last.Path, diff)
			}
			var got any
			if err := json.Unmarshal([]byte(last.Body), &got); err != nil {
				t.Fatalf("%s: %q: %v", form, v, err)
			}
			want := map[string]any{"q": v, "in": "<" + v + ">", "list": []any{v}, "fixed": 1.0}
			if diff := cmp.Diff(any(want), got); diff != "" {
				t.Errorf("%s: %q: %s", form, v, diff)
			}
		}
	}
}

func TestArgumentsStayInTheirPathSegment(t *testing.T) {
	base, last := service(t)
	made := newTool(t, builtintool.HTTP, tool.Settings{}, func(c *builtintool.HTTPConfig) { c.URL = template(t, base+"/users/${args.v}/posts") })
	refused := 0
	for _, v := range append(injections, "") {
		*last = recordedRequest{}
		if _, err := call(t, made, args{"v": v}); err != nil {
			if refused++; last.Method != "" {
				t.Errorf("%q was sent and is an error: %v", v, err)
			}
			continue
		}
		parts := strings.Split(last.Path, "/")
		if len(parts) != 4 || parts[1] != "users" || parts[3] != "posts" || parts[2] == ".." || len(last.Query) > 0 || strings.Contains(strings.ToLower(parts[2]), "%2f") {
			t.Errorf("%q went to %s, %v", v, last.Path, last.Query)
		}
	}
	if refused < 10 {
		t.Errorf("only %d refused", refused)
	}
}

func TestHTTPSendsTheAuthorsRequest(t *testing.T) {
	base, last := service(t)
	token := map[string]component.Template{"Authorization": template(t, "Bearer ${env.KEY}"), "X-None": template(t, "${env.NONE}")}
	tests := []struct {
		name   string
		edit   func(*builtintool.HTTPConfig)
		args   args
		effect tool.Effect
		want   recordedRequest
		out    tool.Output
	}{
		{
			"a search", func(c *builtintool.HTTPConfig) {
				c.URL, c.Headers = template(t, "${env.BASE}/search"), token
				c.Query = map[string]component.Template{"q": template(t, "${args.q}"), "n": template(t, "${args.n:-10}"), "none": template(t, "${args.none}")}
				c.ResponseFilter = filter(t, "$.items[*].name")
			},
			args{"q": "a b&c"},
			tool.ReadEffect,
			recordedRequest{Method: "GET", Path: "/search", Query: map[string][]string{"q": {"a b&c"}, "n": {"10"}}},
			tool.Output{Data: json.RawMessage(`["a","b"]`)},
		},
		{
			"a write", func(c *builtintool.HTTPConfig) {
				c.URL = template(t, base+"/items/${args.at.id}")
				c.Body = value(t, `{"n": "${args.n}", "all": "${args.at}", "note": "${args.none}"}`)
				c.ResponseFilter = filter(t, "$.total")
			},
			args{"n": 7, "at": map[string]any{"id": "x y", "list": []int{1}}},
			tool.WriteEffect,
			recordedRequest{Method: "POST", Path: "/items/x%20y", Query: map[string][]string{}, Body: `{"all":{"id":"x y","list":[1]},"n":7}`},
			tool.Output{Data: json.RawMessage(`2`)},
		},
		{
			"one text", func(c *builtintool.HTTPConfig) {
				c.URL, c.ResponseFilter = template(t, base+"/x"), filter(t, "$.items[0].name")
			},
			args{},
			tool.ReadEffect,
			recordedRequest{Method: "GET", Path: "/x", Query: map[string][]string{}},
			tool.Output{Text: "a"},
		},
		{
			"a removal", func(c *builtintool.HTTPConfig) { c.Method, c.URL = "DELETE", template(t, base+"/empty") },
			args{},
			tool.WriteEffect,
			recordedRequest{Method: "DELETE", Path: "/empty", Query: map[string][]string{}},
			tool.Output{Text: "204 No Content"},
		},
		{
			"a key of the author's", func(c *builtintool.HTTPConfig) {
				c.Method, c.URL = "DELETE", template(t, base+"/empty")
				c.Headers = map[string]component.Template{"Idempotency-Key": template(t, "order-7")}
			},
			args{},
			tool.WriteEffect,
			recordedRequest{Method: "DELETE", Path: "/empty", Query: map[string][]string{}},
			tool.Output{Text: "204 No Content"},
		},
		{
			"a write that is sent on", func(c *builtintool.HTTPConfig) { c.Method, c.URL = "POST", template(t, base+"/moved") },
			args{},
			tool.WriteEffect,
			recordedRequest{Method: "POST", Path: "/moved", Query: map[string][]string{}},
			tool.Output{Text: "307 Temporary Redirect: the server points to /there, which was not asked"},
		},
		{
			"a read that is sent on", func(c *builtintool.HTTPConfig) {
				c.URL, c.ResponseFilter = template(t, base+"/moved"), filter(t, "$.total")
			},
			args{},
			tool.ReadEffect,
			recordedRequest{Method: "GET", Path: "/there", Query: map[string][]string{}},
			tool.Output{Data: json.RawMessage(`2`)},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := func(name string) string { return map[string]string{"KEY": "s3cret", "BASE": base}[name] }
			made := newTool(t, builtintool.HTTP, tool.Settings{Env: env}, tt.edit)
			if got := made.Info().Effect; got != tt.effect {
				t.Errorf("effect %s", got)
			}
			out, err := call(t, made, tt.args)
			if err != nil {
				t.Fatal(err)
			}
			header := last.Header
			last.Header = nil
			if diff := cmp.Diff(&tt.want, last); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(&tt.out, out); diff != "" {
				t.Error(diff)
			}
			key := map[tool.Effect]string{tool.WriteEffect: "run-1/step.s1"}[tt.effect]
			if tt.name == "a key of the author's" {
				key = "order-7"
			}
			if got := header.Get("Idempotency-Key"); got != key {
				t.Errorf("key %q, want %q", got, key)
			}
			if tt.name == "a search" && (header.Get("Authorization") != "Bearer s3cret" || len(header.Values("X-None")) > 0) {
				t.Errorf("headers %v", header)
			}
		})
	}
}

func TestHTTPFailures(t *testing.T) {
	base, last := service(t)
	at := func(url string, edit func(*builtintool.HTTPConfig)) tool.Tool {
		return newTool(t, builtintool.HTTP, tool.Settings{Env: machineOf("KEY", "s3cret")}, func(c *builtintool.HTTPConfig) {
			c.URL = template(t, url)
			if edit != nil {
				edit(c)
			}
		})
	}
	gone := at(base+"/gone?key=${env.KEY}", nil)
	fails(t, gone, args{}, `410 Gone: it is gone, {"really": true}`)
	if _, err := call(t, gone, args{}); strings.Contains(err.Error(), "s3cret") {
		t.Errorf("the key shows: %v", err)
	}
	fails(t, at(base+"/text", func(c *builtintool.HTTPConfig) { c.ResponseFilter = filter(t, "$.a") }), args{}, "the response is not JSON, so response_filter cannot be applied: not JSON")
	fails(t, at(base+"/x", func(c *builtintool.HTTPConfig) { c.ResponseFilter = filter(t, "$.none") }), args{}, "response_filter $.none matches nothing in the response")
	fails(t, at(base+"/x", func(c *builtintool.HTTPConfig) { c.MaxBytes = 5 }), args{}, "the body is larger than")
	*last = recordedRequest{}
	fails(t, at(base+"/${args.id}", nil), args{}, "url needs ${args.id}, which has no value")
	fails(t, at("${env.NONE}/x", nil), args{}, "url needs ${env.NONE}, which has no value")
	fails(t, at("${env.KEY}/x", nil), args{}, "url is not an http or https address")
	fails(t, at(base+"/x", func(c *builtintool.HTTPConfig) {
		c.Headers = map[string]component.Template{"X-A": template(t, "${args.a}")}
	}), args{"a": "x\r\nX-B: y"}, "header X-A would contain a line break")
	offline := newTool(t, builtintool.HTTP, tool.Settings{Name: "find", Offline: true}, func(c *builtintool.HTTPConfig) { c.URL = template(t, base) })
	fails(t, offline, args{}, "run.tools.find")
	if last.Method != "" {
		t.Errorf("asked %+v", last)
	}
}

func TestHTTPFaults(t *testing.T) {
	body := value(t, `{"a": "${args.a}"}`)
	url := func(s string) func(*builtintool.HTTPConfig) {
		return func(c *builtintool.HTTPConfig) { c.URL = template(t, s) }
	}
	tests := []struct {
		name string
		edit func(*builtintool.HTTPConfig)
		at   string
		want string
	}{
		{"a host of the model's", url("https://${args.host}/x"), "/url", "choose the server"},
		{"a whole address of the model's", url("${args.url}"), "/url", "http_request"},
		{"a host of the user's", url("https://${parameters.host}/x"), "/url", "choose the server"},
		{"a port", url("https://example.com:${args.port}/x"), "/url", "choose the server"},
		{"the end of a host", url("https://example.com${args.path}"), "/url", "choose the server"},
		{"behind a host of the environment", url("${env.BASE}${args.path}"), "/url", "choose the server"},
		{"a scheme", url("${args.scheme}://example.com/"), "/url", "choose the server"},
		{"no address", url("example.com/x"), "/url", "not an http or https address"},
		{"another scheme", url("ftp://example.com/"), "/url", "not an http or https address"},
		{"a password", url("https://me:${env.KEY}@example.com/"), "/url", ""},
		{"a user", url("https://me@example.com/"), "/url", "user name"},
		{"json in a url", url("https://example.com/?q=${args.q|json}"), "/url", "|json"},
		{"a body that is read", func(c *builtintool.HTTPConfig) { url("https://example.com/")(c); c.Method, c.Body = "GET", body }, "/body", "method GET has no body"},
		{"a body that is no JSON", func(c *builtintool.HTTPConfig) { url("https://example.com/")(c); c.Body = value(t, `"a=${args.a}"`) }, "/body", "not valid JSON"},
		{"a bare reference in a body", func(c *builtintool.HTTPConfig) { url("https://example.com/")(c); c.Body = value(t, `7`) }, "/body", "neither a mapping nor JSON text"},
		{"a host header", func(c *builtintool.HTTPConfig) {
			url("https://example.com/")(c)
			c.Headers = map[string]component.Template{"host": {Text: "x"}}
		}, "/headers/host", "is set automatically"},
		{"no header", func(c *builtintool.HTTPConfig) {
			url("https://example.com/")(c)
			c.Headers = map[string]component.Template{"a/b": {Text: "x"}}
		}, "/headers/a~1b", "invalid header name"},
		{"redirects to anywhere", func(c *builtintool.HTTPConfig) { url("https://example.com/")(c); c.AllowHosts = []string{"*"} }, "/allow_hosts", "any host"},
		{"an undeclared argument", func(c *builtintool.HTTPConfig) {
			url("https://example.com/${args.b}")(c)
			c.InputSchema = component.SchemaRef{JSON: json.RawMessage(`{"type":"object","properties":{"a":{}}}`)}
		}, "/url", "input_schema has no argument b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := try(builtintool.HTTP, tool.Settings{}, tt.edit)
			faults, ok := errors.AsType[component.Faults](err)
			switch {
			case tt.want == "" && err == nil: // the call reports it, when the environment is known
			case !ok:
				t.Errorf("error %v", err)
			case faults[0].At != tt.at || !strings.Contains(faults.Error(), tt.want):
				t.Errorf("%+v", faults)
			}
		})
	}
}

func TestHTTPDeclaresItsArguments(t *testing.T) {
	made := newTool(t, builtintool.HTTP, tool.Settings{}, func(c *builtintool.HTTPConfig) {
		c.URL = template(t, "https://example.com/${args.id}")
		c.Query = map[string]component.Template{"n": template(t, "${args.n:-10}")}
		c.Body = value(t, `{"text": "${args.text}"}`)
	})
	var got struct {
		Properties map[string]any
		Required   []string
	}
	if err := json.Unmarshal(made.Info().Input, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"id", "text"}, got.Required); diff != "" || len(got.Properties) != 3 {
		t.Errorf("%s%v", diff, got)
	}
}
