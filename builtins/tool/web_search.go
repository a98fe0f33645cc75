package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/dsl/jsonpath"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// WebSearchConfig configures web_search.
type WebSearchConfig struct {
	Engine       string                        `yaml:"engine" enum:"searxng|brave|tavily|serper|serpapi|exa|perplexity|wikipedia|json" doc:"Search engine: a SearXNG server at url, a service by name, or json for any API that returns JSON, configured with url, query or body, and results."`
	URL          component.Template            `yaml:"url" vars:"args,parameters,env" doc:"URL of the search API, such as http://localhost:8080/search. Required for searxng and json; services have a default. The host may only use ${env.X}."`
	APIKeyEnv    string                        `yaml:"api_key_env" doc:"Environment variable with the service's API key, such as BRAVE_API_KEY. Not needed for searxng and wikipedia."`
	Method       string                        `yaml:"method" enum:"GET|POST" doc:"For json: HTTP method. Default: GET, or POST with a body."`
	Headers      map[string]component.Template `yaml:"headers" vars:"args,parameters,env" doc:"Request headers, such as X-Api-Key: ${env.SEARCH_KEY}."`
	Query        map[string]component.Template `yaml:"query" vars:"args,parameters,env" doc:"Query parameters, such as language: de. For json, pass the search as ${args.query} and ${args.count}."`
	Body         component.Value               `yaml:"body" vars:"args,parameters,env" doc:"For json: request body, with ${args.query} and ${args.count}."`
	Results      component.FilterRef           `yaml:"results" doc:"For json: JSONPath (RFC 9535) of the results in the response, such as $.webPages.value."`
	Title        component.FilterRef           `yaml:"title" doc:"For json: JSONPath of the title within one result. Default: its title or name."`
	Link         component.FilterRef           `yaml:"link" doc:"For json: JSONPath of the URL within one result. Default: its url, link or href."`
	Snippet      component.FilterRef           `yaml:"snippet" doc:"For json: JSONPath of the snippet within one result. Default: its snippet, description, content or text."`
	MaxResults   int                           `yaml:"max_results" min:"1" max:"50" doc:"Maximum number of results, and the default if the model requests no number."`
	AllowHosts   []string                      `yaml:"allow_hosts" doc:"Hosts that redirects may lead to, in addition to the host of url: host or host:port, with wildcards such as *.example.org."`
	AllowPrivate bool                          `yaml:"allow_private" doc:"Whether the hosts may have private addresses. An IP address or localhost in url is always allowed."`
	MaxBytes     int64                         `yaml:"max_bytes" min:"1" max:"67108864" doc:"Maximum response size in bytes, after decompression."`
}

// Access implements tool.AccessDescriber.
func (c *WebSearchConfig) Access() []string {
	request := searchEngines[c.Engine].request(c)
	return request.Access()
}

// WebSearch searches the web with a service chosen by the author.
var WebSearch = component.New("web_search", "Searches the web with SearXNG, a search service, or any search API that returns JSON.",
	func() WebSearchConfig { return WebSearchConfig{Engine: searxng, MaxResults: 8, MaxBytes: 4 << 20} }, newWebSearch)

const webSearchInput = `{"type":"object","properties":{` +
	`"query":{"type":"string","description":"The search query."},` +
	`"count":{"type":"integer","description":"Maximum number of results (optional)."}` +
	`},"required":["query"],"additionalProperties":false}`

type webSearch struct {
	info        tool.Info
	maxResults  int
	engine      searchEngine
	key         string // environment variable with the API key, "" = none
	list        func(any) ([]any, error)
	resultsPath string // the author's path of the results, "" = the engine's own
	ask         *httpTool
}

var _ tool.Tool = (*webSearch)(nil)

func newWebSearch(c *WebSearchConfig, s tool.Settings) (tool.Tool, error) {
	if err := c.check().Err(); err != nil {
		return nil, err
	}
	t := &webSearch{maxResults: c.MaxResults, engine: searchEngines[c.Engine], key: c.APIKeyEnv, list: c.Results.Apply, resultsPath: c.Results.Source}
	if t.engine.maxResults > 0 {
		t.maxResults = min(t.maxResults, t.engine.maxResults)
	}
	t.info = toolInfo(s, "web_search", "Searches the web and returns the title, URL and a snippet of each result.", webSearchInput, tool.ReadEffect)
	if c.Engine == jsonEngine {
		t.engine.title, t.engine.link, t.engine.snippet = c.Title, c.Link, c.Snippet
	} else {
		path, err := jsonpath.Compile(t.engine.list)
		if err != nil {
			return nil, err
		}
		t.list = path.Select
	}
	s.Name = t.info.Name
	request := t.engine.request(c)
	ask, err := newHTTP(&request, s)
	if err != nil {
		return nil, err
	}
	t.ask = ask.(*httpTool)
	return t, nil
}

// Info implements tool.Tool.
func (t *webSearch) Info() tool.Info { return t.info }

type webSearchArgs struct {
	Query string `json:"query"`
	Count int    `json:"count"`
}

// Call implements tool.Tool.
func (t *webSearch) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	args, err := arguments[webSearchArgs](ctx, call)
	if err != nil {
		return nil, err
	}
	if args.Query = strings.TrimSpace(args.Query); args.Query == "" {
		return nil, errors.New(`argument "query" is empty; pass a short search query`)
	}
	if args.Count, err = within("count", args.Count, t.maxResults, t.maxResults); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	inner := &tool.Call{Args: raw, Lookup: call.Lookup}
	if v, _ := lookup(inner, t.ask.env)("env", t.key); t.key != "" && v == nil && !t.ask.offline {
		return nil, fmt.Errorf("the search service needs an API key, but the environment variable %s is not set", t.key)
	}
	out, err := t.ask.Call(ctx, inner)
	if err != nil {
		return nil, t.engine.explain(err)
	}
	return t.read(out, args, inner)
}
