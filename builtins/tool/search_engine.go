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

// The engines that are told apart in code.
const (
	searxng    = "searxng"
	jsonEngine = "json"
)

// searchEngine is how a search service is asked and what it answers. Texts are
// templates over args and env.
type searchEngine struct {
	url    string // "" = the author writes it
	key    string // what the variable with its key is usually called, "" = it needs none
	secret string // how the key is sent, "Header: text" or "?name"; KEY stands for it
	query  map[string]string
	body   map[string]any    // "" = none; its texts are templates
	list   string            // JSONPath of the results
	most   int               // results that one search gives, by its documentation; 0 = more than max_results may be
	hint   map[string]string // what a status means here

	title, link, snippet component.FilterRef // unset = by the usual names
}

// searchEngines are the services that need no more than a word, as their
// documentation and public clients had them in November 2026; nobody here could
// ask the services themselves.
var searchEngines = map[string]searchEngine{
	jsonEngine: {},
	searxng: {
		query: map[string]string{"q": "${args.query}", "format": "json"}, list: "$.results[*]",
		hint: map[string]string{"403 Forbidden": "SearXNG answers in JSON only where its settings.yml lists json under search.formats"},
	},
	"brave": {
		url: "https://api.search.brave.com/res/v1/web/search", key: "BRAVE_API_KEY", secret: "X-Subscription-Token: KEY",
		query: map[string]string{"q": "${args.query}", "count": "${args.count}", "text_decorations": "false"}, list: "$.web.results[*]", most: 20,
	},
	"tavily": {
		url: "https://api.tavily.com/search", key: "TAVILY_API_KEY", secret: "Authorization: Bearer KEY",
		body: map[string]any{"query": "${args.query}", "max_results": "${args.count}"}, list: "$.results[*]", most: 20,
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
		body: map[string]any{"query": "${args.query}", "max_results": "${args.count}"}, list: "$.results[*]", most: 20,
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

// check finds settings that do not go with the engine.
func (c *WebSearchConfig) check() (out component.Faults) {
	fault := func(at, message, hint string) {
		out = append(out, component.Fault{At: at, Message: message, Hint: hint})
	}
	e, ok := searchEngines[c.Engine]
	if !ok {
		fault("/engine", "there is no search engine "+clip(c.Engine), "one of "+strings.Join(slices.Sorted(maps.Keys(searchEngines)), ", "))
		return out
	}
	if c.URL.Text == "" && e.url == "" {
		fault("/url", "engine "+c.Engine+" needs the url that is asked", "such as http://localhost:8080/search; services that have their own: brave, tavily, wikipedia, ...")
	}
	if c.APIKeyEnv == "" && e.key != "" {
		fault("/api_key_env", "engine "+c.Engine+" needs a key", "write api_key_env: "+e.key+", and keep the key in that variable")
	}
	if c.APIKeyEnv != "" && !variable().MatchString(c.APIKeyEnv) {
		fault("/api_key_env", "api_key_env is the name of an environment variable", "write "+cmp.Or(e.key, "SEARCH_API_KEY")+", and keep the key in the environment")
	}
	if c.APIKeyEnv != "" && e.key == "" {
		fault("/api_key_env", "engine "+c.Engine+" has no place for a key", "send it under headers, as Authorization: Bearer ${env."+c.APIKeyEnv+"}")
	}
	if c.Engine == jsonEngine {
		if c.Results.IsZero() {
			fault("/results", "engine json needs the path of the results in the response", "write a JSONPath, such as results: $.items")
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
			fault("/"+key.name, fmt.Sprintf("%s is for engine: json; %s has its own", key.name, c.Engine), "leave it out, or write engine: json")
		}
	}
	return out
}

// request is how the engine is asked, as the settings of http: what the author
// adds goes before what the engine has.
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
		out.Query[name] = filledIn(text)
	}
	if len(e.body) > 0 {
		out.Body = filledBody(e.body)
	}
	if name, ok := strings.CutPrefix(e.secret, "?"); ok {
		out.Query[name] = filledIn("${env." + c.APIKeyEnv + "}")
	} else if name, text, ok := strings.Cut(e.secret, ": "); ok {
		out.Headers[name] = filledIn(strings.Replace(text, "KEY", "${env."+c.APIKeyEnv+"}", 1))
	}
	maps.Copy(out.Headers, c.Headers)
	maps.Copy(out.Query, c.Query)
	return out
}

// explain adds what an error of this engine usually means.
func (e searchEngine) explain(err error) error {
	for _, status := range slices.Sorted(maps.Keys(e.hint)) {
		if strings.Contains(err.Error(), ": "+status) {
			return fmt.Errorf("%w: %s", err, e.hint[status])
		}
	}
	return err
}

// filledIn is a template of ours.
func filledIn(text string) component.Template {
	parsed, _ := prompt.Parse(text, ours)
	out := component.Template{Text: text}
	out.Bind(parsed.Render)
	return out
}

var ours = prompt.Options{Source: "a request of the tool", Namespaces: []string{"args", "env"}}

// filledBody is a body of ours; a text that is one reference keeps its type.
func filledBody(fields map[string]any) component.Value {
	// Texts, numbers and maps of them always marshal.
	source, _ := json.Marshal(fields)
	out := component.Value{JSON: source}
	out.Bind(func(look component.Lookup) any { return filledTree(fields, look) })
	return out
}

func filledTree(tree any, look component.Lookup) any {
	switch v := tree.(type) {
	case string:
		parsed, _ := prompt.Parse(v, ours)
		if whole, ok := parsed.Whole(look); ok {
			return whole
		}
		return parsed.Text(look)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			out[name] = filledTree(inner, look)
		}
		return out
	}
	return tree
}
