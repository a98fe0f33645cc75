package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
)

// Engines with special handling.
const (
	searxng    = "searxng"
	jsonEngine = "json"
)

// searchEngine describes the API of a search service. Strings are templates over args and
// env.
type searchEngine struct {
	url        string // "" = required from the author
	key        string // usual name of the environment variable with the API key, "" = no key
	secret     string // how the key is sent, "Header: text" or "?name"; KEY is replaced by the key
	query      map[string]string
	body       map[string]any    // "" = none; strings in it are templates
	list       string            // JSONPath of the results
	maxResults int               // documented maximum number of results per search; 0 = at least max_results
	hint       map[string]string // explanation of a status

	title, link, snippet component.FilterRef // unset = the usual names
}

// searchEngines are the services that need only a name, as documented by them and used by
// public clients in November 2026. They are not tested against the live services.
var searchEngines = map[string]searchEngine{
	jsonEngine: {},
	searxng: {
		query: map[string]string{"q": "${args.query}", "format": "json"}, list: "$.results[*]",
		hint: map[string]string{"403 Forbidden": "SearXNG answers in JSON only where its settings.yml lists json under search.formats"},
	},
	"brave": {
		url: "https://api.search.brave.com/res/v1/web/search", key: "BRAVE_API_KEY", secret: "X-Subscription-Token: KEY",
		query: map[string]string{"q": "${args.query}", "count": "${args.count}", "text_decorations": "false"}, list: "$.web.results[*]", maxResults: 20,
	},
	"tavily": {
		url: "https://api.tavily.com/search", key: "TAVILY_API_KEY", secret: "Authorization: Bearer KEY",
		body: map[string]any{"query": "${args.query}", "max_results": "${args.count}"}, list: "$.results[*]", maxResults: 20,
	},
	"serper": {
		url: "https://google.serper.dev/search", key: "SERPER_API_KEY", secret: "X-API-KEY: KEY",
		body: map[string]any{"q": "${args.query}", "num": "${args.count}"}, list: "$.organic[*]",
	},
	"serpapi": {
		url: "https://serpapi.com/search.json", key: "SERPAPI_API_KEY", secret: "?api_key",
		query: map[string]string{"engine": "google", "q": "${args.query}", "num": "${args.count}"}, list: "$.organic_results[*]",
	},
	"exa": {
		url: "https://api.exa.ai/search", key: "EXA_API_KEY", secret: "X-Api-Key: KEY",
		body: map[string]any{
			"query": "${args.query}", "numResults": "${args.count}",
			"contents": map[string]any{"text": map[string]any{"maxCharacters": maxSnippet}},
		},
		list: "$.results[*]",
	},
	"perplexity": {
		url: "https://api.perplexity.ai/search", key: "PERPLEXITY_API_KEY", secret: "Authorization: Bearer KEY",
		body: map[string]any{"query": "${args.query}", "max_results": "${args.count}"}, list: "$.results[*]", maxResults: 20,
	},
	"wikipedia": {
		url: "https://en.wikipedia.org/w/api.php",
		query: map[string]string{
			"action": "query", "list": "search", "srsearch": "${args.query}", "srlimit": "${args.count}", "format": "json", "formatversion": "2",
		},
		list: "$.query.search[*]",
	},
}

var variable = text.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check returns faults for settings that do not apply to the engine.
func (c *WebSearchConfig) check() (out component.Faults) {
	fault := func(at, message, hint string) {
		out = append(out, component.Fault{At: at, Message: message, Hint: hint})
	}
	e, ok := searchEngines[c.Engine]
	if !ok {
		fault("/engine", "unknown search engine "+clip(c.Engine), "use one of "+strings.Join(slices.Sorted(maps.Keys(searchEngines)), ", "))
		return out
	}
	if c.URL.Text == "" && e.url == "" {
		fault("/url", "engine "+c.Engine+" requires url", "write it, such as http://localhost:8080/search; services with a default url: brave, tavily, wikipedia, ...")
	}
	if c.APIKeyEnv == "" && e.key != "" {
		fault("/api_key_env", "engine "+c.Engine+" requires an API key", "write api_key_env: "+e.key+", and store the key in that variable")
	}
	if c.APIKeyEnv != "" && !variable().MatchString(c.APIKeyEnv) {
		fault("/api_key_env", "api_key_env must be the name of an environment variable", "write "+cmp.Or(e.key, "SEARCH_API_KEY")+", and store the key in that variable")
	}
	if c.APIKeyEnv != "" && e.key == "" {
		fault("/api_key_env", "engine "+c.Engine+" uses no API key", "send it in headers, as Authorization: Bearer ${env."+c.APIKeyEnv+"}")
	}
	if c.Engine == jsonEngine {
		if c.Results.IsZero() {
			fault("/results", "engine json requires results, the path of the results in the response", "write a JSONPath, such as results: $.items")
		}
		return out
	}
	for _, key := range []struct {
		name    string
		written bool
	}{
		{"method", c.Method != ""},
		{"body", !c.Body.IsZero()},
		{"results", !c.Results.IsZero()},
		{"title", !c.Title.IsZero()},
		{"link", !c.Link.IsZero()},
		{"snippet", !c.Snippet.IsZero()},
	} {
		if key.written {
			fault("/"+key.name, fmt.Sprintf("%s requires engine: json; %s has its own", key.name, c.Engine), "remove it, or write engine: json")
		}
	}
	return out
}

// request returns the settings of http for the engine. The author's settings take
// precedence.
func (e searchEngine) request(c *WebSearchConfig) HTTPConfig {
	out := HTTPConfig{
		Method: c.Method, URL: c.URL, Headers: map[string]component.Template{}, Query: map[string]component.Template{}, Body: c.Body,
		InputSchema: component.SchemaRef{JSON: json.RawMessage(webSearchInput)},
		AllowHosts:  c.AllowHosts, AllowPrivate: c.AllowPrivate, MaxBytes: c.MaxBytes,
	}
	if out.URL.Text == "" {
		out.URL = component.Template{Text: e.url}
	}
	for name, text := range e.query {
		out.Query[name] = ownText(text)
	}
	if len(e.body) > 0 {
		out.Body = ownBody(e.body)
	}
	if name, ok := strings.CutPrefix(e.secret, "?"); ok {
		out.Query[name] = ownText("${env." + c.APIKeyEnv + "}")
	} else if name, text, ok := strings.Cut(e.secret, ": "); ok {
		out.Headers[name] = ownText(strings.Replace(text, "KEY", "${env."+c.APIKeyEnv+"}", 1))
	}
	maps.Copy(out.Headers, c.Headers)
	maps.Copy(out.Query, c.Query)
	return out
}

// explain adds the usual cause of an error of this engine.
func (e searchEngine) explain(err error) error {
	for _, status := range slices.Sorted(maps.Keys(e.hint)) {
		if strings.Contains(err.Error(), ": "+status) {
			return fmt.Errorf("%w: %s", err, e.hint[status])
		}
	}
	return err
}

// ownText compiles one of our own templates.
func ownText(text string) component.Template {
	parsed, _ := prompt.Parse(text, ownTemplate)
	out := component.Template{Text: text}
	out.Bind(parsed.Render)
	return out
}

var ownTemplate = prompt.Options{Source: "a request of the tool", Namespaces: []string{"args", "env"}}

// ownBody compiles one of our own bodies. A string that consists of one reference
// keeps the type of its value.
func ownBody(fields map[string]any) component.Value {
	// Strings, numbers and maps of them always marshal.
	source, _ := json.Marshal(fields)
	out := component.Value{JSON: source}
	out.Bind(func(look component.Lookup) any { return fillTree(fields, look) })
	return out
}

func fillTree(tree any, look component.Lookup) any {
	switch v := tree.(type) {
	case string:
		parsed, _ := prompt.Parse(v, ownTemplate)
		if whole, ok := parsed.Whole(look); ok {
			return whole
		}
		return parsed.Text(look)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			out[name] = fillTree(inner, look)
		}
		return out
	}
	return tree
}
