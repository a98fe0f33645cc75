package tool_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// searchService starts a search service that returns a status and a text, and records the last
// request.
func searchService(t testing.TB, status int, answer string) (base string, last *recordedRequest) {
	t.Helper()
	last = &recordedRequest{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*last = recordedRequest{r.Method, r.URL.EscapedPath(), r.URL.Query(), r.Header, string(body)}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL, last
}

func searcher(t *testing.T, base string, edit func(*builtintool.WebSearchConfig)) tool.Tool {
	t.Helper()
	return newTool(t, builtintool.WebSearch, tool.Settings{Env: machineOf("KEY", "s3cret-key")}, func(c *builtintool.WebSearchConfig) {
		c.URL = template(t, base+"/search")
		edit(c)
	})
}

// Requests and responses are those documented by each service; none was recorded.
func TestEverySearchEngine(t *testing.T) {
	const twoPages = `{"title":"First <b>page</b>","url":"https://a.example/1","%[1]s":"One &amp;\n <strong>two</strong>"},{"title":"Second","url":"https://b.example/?q=1&r=2","%[1]s":""}`
	pages := func(around, snippet string) string {
		return strings.Replace(around, "PAGES", fmt.Sprintf(twoPages, snippet), 1)
	}
	linked := func(around string) string {
		return strings.ReplaceAll(pages(around, "snippet"), `"url"`, `"link"`)
	}
	none := map[string][]string{}
	tests := []struct {
		engine string
		answer string
		want   recordedRequest
		header string // name: value
	}{
		{
			"searxng", pages(`{"query":"a b&c","number_of_results":0,"results":[PAGES],"answers":[],"unresponsive_engines":[["google","timeout"]]}`, "content"),
			recordedRequest{Method: "GET", Path: "/search", Query: map[string][]string{"q": {"a b&c"}, "format": {"json"}}},
			"",
		},
		{
			"brave", pages(`{"type":"search","web":{"type":"search","results":[PAGES]}}`, "description"),
			recordedRequest{Method: "GET", Path: "/search", Query: map[string][]string{"q": {"a b&c"}, "count": {"3"}, "text_decorations": {"false"}}},
			"X-Subscription-Token: s3cret-key",
		},
		{
			"tavily", pages(`{"query":"a b&c","answer":null,"results":[PAGES],"response_time":1.2}`, "content"),
			recordedRequest{Method: "POST", Path: "/search", Query: none, Body: `{"max_results":3,"query":"a b&c"}`},
			"Authorization: Bearer s3cret-key",
		},
		{
			"serper", linked(`{"searchParameters":{"q":"a b&c"},"organic":[PAGES],"peopleAlsoAsk":[]}`),
			recordedRequest{Method: "POST", Path: "/search", Query: none, Body: `{"num":3,"q":"a b&c"}`},
			"X-Api-Key: s3cret-key",
		},
		{
			"serpapi", linked(`{"search_metadata":{"status":"Success"},"organic_results":[PAGES]}`),
			recordedRequest{Method: "GET", Path: "/search", Query: map[string][]string{"engine": {"google"}, "q": {"a b&c"}, "num": {"3"}, "api_key": {"s3cret-key"}}},
			"",
		},
		{
			"exa", pages(`{"requestId":"1","results":[PAGES]}`, "text"),
			recordedRequest{Method: "POST", Path: "/search", Query: none, Body: `{"contents":{"text":{"maxCharacters":1000}},"numResults":3,"query":"a b&c"}`},
			"X-Api-Key: s3cret-key",
		},
		{
			"perplexity", pages(`{"id":"1","results":[PAGES]}`, "snippet"),
			recordedRequest{Method: "POST", Path: "/search", Query: none, Body: `{"max_results":3,"query":"a b&c"}`},
			"Authorization: Bearer s3cret-key",
		},
	}
	for _, tt := range tests {
		t.Run(tt.engine, func(t *testing.T) {
			base, last := searchService(t, 200, tt.answer)
			made := searcher(t, base, func(c *builtintool.WebSearchConfig) {
				if c.Engine = tt.engine; tt.engine != "searxng" {
					c.APIKeyEnv = "KEY"
				}
			})
			out, err := call(t, made, args{"query": " a b&c ", "count": 3})
			if err != nil {
				t.Fatal(err)
			}
			const data = `[{"title":"First page","url":"https://a.example/1","snippet":"One & two"},{"title":"Second","url":"https://b.example/?q=1&r=2","snippet":""}]`
			const text = "1. First page\n   https://a.example/1\n   One & two\n2. Second\n   https://b.example/?q=1&r=2"
			if string(out.Data) != data || out.Text != text {
				t.Errorf("gave %s\n%s", out.Data, out.Text)
			}
			header := last.Header
			last.Header = nil
			if diff := cmp.Diff(&tt.want, last); diff != "" {
				t.Error(diff)
			}
			if name, value, ok := strings.Cut(tt.header, ": "); ok && header.Get(name) != value {
				t.Errorf("header %v", header)
			}
			if header.Get("Idempotency-Key") != "" || made.Info().Effect != tool.ReadEffect {
				t.Errorf("a search is sent as a write: %v", header)
			}
		})
	}
}

func TestWikipediaLinksPagesByNumber(t *testing.T) {
	base, last := searchService(t, 200, `{"batchcomplete":true,"query":{"search":[{"ns":0,"title":"Go","pageid":25039021,"snippet":"<span class=\"searchmatch\">Go</span> is a language"}]}}`)
	made := searcher(t, base, func(c *builtintool.WebSearchConfig) { c.Engine = "wikipedia" })
	if got, want := text(t, made, args{"query": "go"}), "1. Go\n   "+base+"/?curid=25039021\n   Go is a language"; got != want {
		t.Errorf("gave %s", got)
	}
	if got := last.Query["srsearch"]; len(got) != 1 || got[0] != "go" || last.Query["srlimit"][0] != "8" {
		t.Errorf("asked %v", last.Query)
	}
	failing, _ := searchService(t, 200, `{"error":{"code":"ratelimited","info":"You have exceeded your rate limit."}}`)
	fails(t, searcher(t, failing, func(c *builtintool.WebSearchConfig) { c.Engine = "wikipedia" }), args{"query": "go"}, "You have exceeded your rate limit.")
}

// Any API that returns JSON can be configured in the spec: these have the formats of Bing
// and Google, and one with the usual field names.
func TestSearchWithAnyJSONAPI(t *testing.T) {
	tests := []struct {
		name   string
		answer string
		edit   func(*testing.T, *builtintool.WebSearchConfig)
		want   recordedRequest
		out    string
	}{
		{
			"bing", `{"_type":"SearchResponse","webPages":{"value":[{"name":"A","url":"https://a.example","snippet":"s"}]}}`,
			func(t *testing.T, c *builtintool.WebSearchConfig) {
				c.Headers = map[string]component.Template{"Ocp-Apim-Subscription-Key": template(t, "${env.KEY}")}
				c.Query = map[string]component.Template{"q": template(t, "${args.query}"), "count": template(t, "${args.count}")}
				c.Results = filter(t, "$.webPages.value")
			},
			recordedRequest{Method: "GET", Path: "/search", Query: map[string][]string{"q": {"x"}, "count": {"8"}}},
			`[{"title":"A","url":"https://a.example","snippet":"s"}]`,
		},
		{
			"google", `{"items":[{"title":"A","link":"https://a.example","snippet":"s"},{"title":"no link","link":"javascript:alert(1)"},{"title":"no page","link":"ftp://a.example/"}]}`,
			func(t *testing.T, c *builtintool.WebSearchConfig) {
				c.Query = map[string]component.Template{"q": template(t, "${args.query}"), "key": template(t, "${env.KEY}"), "cx": template(t, "mine")}
				c.Results = filter(t, "$.items[*]")
			},
			recordedRequest{Method: "GET", Path: "/search", Query: map[string][]string{"q": {"x"}, "key": {"s3cret-key"}, "cx": {"mine"}}},
			`[{"title":"A","url":"https://a.example","snippet":"s"},{"title":"no link","url":"","snippet":""},{"title":"no page","url":"","snippet":""}]`,
		},
		{
			"a body, and names of its own", `{"data":{"docs":[{"meta":{"head":"A"},"where":"/wiki/a","lines":["s","t"]},{"other":1},"no object"]}}`,
			func(t *testing.T, c *builtintool.WebSearchConfig) {
				c.Body = value(t, `{"search": {"text": "${args.query}", "top": "${args.count}"}}`)
				c.Results, c.Title, c.Link, c.Snippet = filter(t, "$.data.docs"), filter(t, "$.meta.head"), filter(t, "$.where"), filter(t, "$.lines[0]")
			},
			recordedRequest{Method: "POST", Path: "/search", Query: map[string][]string{}, Body: `{"search":{"text":"x","top":8}}`},
			`[{"title":"A","url":"BASE/wiki/a","snippet":"s"}]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, last := searchService(t, 200, tt.answer)
			made := searcher(t, base, func(c *builtintool.WebSearchConfig) {
				c.Engine = "json"
				tt.edit(t, c)
			})
			out, err := call(t, made, args{"query": "x"})
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.ReplaceAll(tt.out, "BASE", base); string(out.Data) != want {
				t.Errorf("gave %s", out.Data)
			}
			last.Header = nil
			if diff := cmp.Diff(&tt.want, last); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSearchResultsAreLimited(t *testing.T) {
	one := `{"title":"T","url":"https://a.example","content":"` + strings.Repeat("long ", 5000) + `"}`
	base, last := searchService(t, 200, `{"results":[`+strings.Repeat(one+",", 9)+one+`]}`)
	made := searcher(t, base, func(c *builtintool.WebSearchConfig) { c.MaxResults = 4 })
	for count, want := range map[int]int{0: 4, 1: 1, 4: 4, 1000: 4} {
		got := text(t, made, args{"query": "x", "count": count})
		if n := strings.Count(got, "https://a.example"); n != want || len(got) > want*1100 {
			t.Errorf("count %d: %d results in %d bytes", count, n, len(got))
		}
	}
	if last.Query["q"][0] != "x" {
		t.Errorf("asked %v", last.Query)
	}
	fails(t, made, args{"query": "x", "count": -1}, "must be positive")
	fails(t, made, args{"query": " "}, `"query" is empty`)
	fails(t, made, args{"query": "x", "Query": "y"}, `unknown argument "Query"`)
}

func TestSearchExplainsEmptyResults(t *testing.T) {
	inJSON := func(t *testing.T, c *builtintool.WebSearchConfig) {
		c.Engine, c.Results = "json", filter(t, "$.hits[*]")
	}
	tests := []struct {
		name   string
		status int
		answer string
		edit   func(*testing.T, *builtintool.WebSearchConfig)
		want   string // a text, or an error
		fails  bool
	}{
		{"an empty list", 200, `{"results":[]}`, nil, `No results for "x"; try other or fewer words.`, false},
		{"silent engines", 200, `{"results":[],"unresponsive_engines":[["google","timeout"]]}`, nil, `Engines that did not answer: [["google","timeout"]]`, false},
		{"a path that finds nothing", 200, `{"items":[]}`, inJSON, `The answer has nothing at $.hits[*].`, false},
		{"a word of the service's", 200, `{"error":"Google hasn't returned any results for this query."}`, inJSON, `The service says: Google hasn't returned`, false},
		{"JSON is off", 403, `Forbidden`, nil, "SearXNG answers in JSON only where its settings.yml lists json", true},
		{"a wrong key", 401, `{"message":"Unauthorized."}`, inJSON, `401 Unauthorized: {"message":"Unauthorized."}`, true},
		{"a page", 200, `<html>`, nil, "did not return JSON: <html>", true},
		{"nothing at all", 200, ``, nil, "did not return JSON", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base, _ := searchService(t, tt.status, tt.answer)
			made := searcher(t, base, func(c *builtintool.WebSearchConfig) {
				if tt.edit != nil {
					tt.edit(t, c)
				}
			})
			if tt.fails {
				fails(t, made, args{"query": "x"}, tt.want)
				return
			}
			out, err := call(t, made, args{"query": "x"})
			if err != nil || !strings.Contains(out.Text, tt.want) || string(out.Data) != "[]" {
				t.Errorf("gave %+v, %v", out, err)
			}
		})
	}
}

func TestSearchRequiresItsKey(t *testing.T) {
	base, last := searchService(t, 200, `{}`)
	made := searcher(t, base, func(c *builtintool.WebSearchConfig) { c.Engine, c.APIKeyEnv = "tavily", "UNSET" })
	fails(t, made, args{"query": "x"}, "the environment variable UNSET is not set")
	if last.Method != "" {
		t.Error("was asked without a key")
	}
	offline, err := try(builtintool.WebSearch, tool.Settings{Name: "web", Offline: true}, func(c *builtintool.WebSearchConfig) { c.Engine, c.APIKeyEnv = "tavily", "UNSET" })
	if err != nil {
		t.Fatal(err)
	}
	fails(t, offline, args{"query": "x"}, "give run.tools.web or a cassette")
}

func TestWebSearchFaults(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*builtintool.WebSearchConfig)
		at   string
	}{
		{"no url", func(*builtintool.WebSearchConfig) {}, "/url"},
		{"no url of an API", func(c *builtintool.WebSearchConfig) { c.Engine, c.Results = "json", filter(t, "$") }, "/url"},
		{"no results", func(c *builtintool.WebSearchConfig) { c.Engine, c.URL = "json", template(t, "https://a.example") }, "/results"},
		{"no key", func(c *builtintool.WebSearchConfig) { c.Engine = "brave" }, "/api_key_env"},
		{"a key as it is", func(c *builtintool.WebSearchConfig) { c.Engine, c.APIKeyEnv = "brave", "BSA-12345" }, "/api_key_env"},
		{"a key that goes nowhere", func(c *builtintool.WebSearchConfig) { c.Engine, c.APIKeyEnv = "wikipedia", "KEY" }, "/api_key_env"},
		{"results of a service", func(c *builtintool.WebSearchConfig) { c.Engine, c.Results = "wikipedia", filter(t, "$") }, "/results"},
		{"a method of a service", func(c *builtintool.WebSearchConfig) { c.Engine, c.Method = "wikipedia", "POST" }, "/method"},
		{"a body of a service", func(c *builtintool.WebSearchConfig) { c.Engine, c.Body = "wikipedia", value(t, `{}`) }, "/body"},
		{"an engine that is not", func(c *builtintool.WebSearchConfig) { c.Engine = "altavista" }, "/engine"},
		{"a host that a model chooses", func(c *builtintool.WebSearchConfig) { c.URL = template(t, "https://${args.query}/") }, "/url"},
		{"an argument that is not", func(c *builtintool.WebSearchConfig) {
			c.URL = template(t, "https://a.example")
			c.Query = map[string]component.Template{"q": template(t, "${args.text}")}
		}, "/query/q"},
		{"a header of the request's", func(c *builtintool.WebSearchConfig) {
			c.Engine, c.Headers = "wikipedia", map[string]component.Template{"Host": template(t, "x")}
		}, "/headers/Host"},
		{"redirects anywhere", func(c *builtintool.WebSearchConfig) { c.Engine, c.AllowHosts = "wikipedia", []string{"*"} }, "/allow_hosts"},
	} {
		_, err := try(builtintool.WebSearch, tool.Settings{}, tt.edit)
		if faults, ok := errors.AsType[component.Faults](err); !ok || faults[0].At != tt.at {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A query from the model stays the value of one parameter, for every engine.
func TestQueryStaysInItsParameter(t *testing.T) {
	base, last := searchService(t, 200, `{"results":[]}`)
	made := searcher(t, base, func(*builtintool.WebSearchConfig) {})
	for _, v := range injections {
		if strings.TrimSpace(v) == "" {
			continue
		}
		if _, err := call(t, made, args{"query": v}); err != nil {
			t.Errorf("%q: %v", v, err)
			continue
		}
		want := map[string][]string{"q": {strings.TrimSpace(v)}, "format": {"json"}}
		if diff := cmp.Diff(want, last.Query); diff != "" || last.Path != "/search" {
			t.Errorf("%q: path %s, query %s", v, last.Path, diff)
		}
	}
}

// Results are on lines of their own, without markup, and without URLs that a browser
// should not open.
func TestSearchResultsAreReadable(t *testing.T) {
	for _, tt := range []struct{ name, result, want string }{
		{"lines", `{"title":"A<br>B","url":"https://a.example","content":"<p>One</p><p>Two</p><ul><li>three"}`, `{"title":"A B","url":"https://a.example","snippet":"One Two three"}`},
		{"no markup", `{"title":"x < y","url":"https://a.example","content":"a <a href=\"u\">link</a> &lt;b&gt;"}`, `{"title":"x < y","url":"https://a.example","snippet":"a link <b>"}`},
		{"a forged result", `{"title":"A\n2. B","url":"https://a.example/\n3. C","content":"x\r\n4. D"}`, `{"title":"A 2. B","url":"","snippet":"x 4. D"}`},
		{"data", `{"title":"A","url":"data:text/html,x"}`, `{"title":"A","url":"","snippet":""}`},
		{"a user", `{"title":"A","url":"https://bank.example@evil.example/"}`, `{"title":"A","url":"","snippet":""}`},
		{"too long", `{"title":"A","url":"https://a.example/` + strings.Repeat("x", 5000) + `"}`, `{"title":"A","url":"","snippet":""}`},
		{"no texts", `{"title":7,"url":null,"content":["a"]}`, ``},
	} {
		base, _ := searchService(t, 200, `{"results":[`+tt.result+`,null,3]}`)
		out, err := call(t, searcher(t, base, func(*builtintool.WebSearchConfig) {}), args{"query": "x"})
		if err != nil || string(out.Data) != "["+tt.want+"]" {
			t.Errorf("%s: %s, %v", tt.name, out.Data, err)
		}
	}
}

// A request does not exceed the maximum number of results of its service.
func TestSearchRequestsAtMostTheServicesLimit(t *testing.T) {
	for engine, want := range map[string]string{"brave": "20", "serpapi": "50"} {
		base, last := searchService(t, 200, `{}`)
		made := searcher(t, base, func(c *builtintool.WebSearchConfig) { c.Engine, c.APIKeyEnv, c.MaxResults = engine, "KEY", 50 })
		if _, err := call(t, made, args{"query": "x"}); err != nil || strings.Join(last.Query["count"], "")+strings.Join(last.Query["num"], "") != want {
			t.Errorf("%s: asked %v, %v", engine, last.Query, err)
		}
	}
}

func TestSearchFailuresAreExplained(t *testing.T) {
	base, _ := searchService(t, 200, `{"error":{"code":429}}`)
	fails(t, searcher(t, base, func(c *builtintool.WebSearchConfig) { c.Engine = "wikipedia" }), args{"query": "x"}, `the search service says: {"code":429}`)
	// 403 in a port or in a text is not a status.
	busy, _ := searchService(t, 500, `{"error":"upstream gave 403"}`)
	if _, err := call(t, searcher(t, busy, func(*builtintool.WebSearchConfig) {}), args{"query": "x"}); err == nil || strings.Contains(err.Error(), "settings.yml") {
		t.Errorf("an internal failure is explained as a wrong setting: %v", err)
	}
}
