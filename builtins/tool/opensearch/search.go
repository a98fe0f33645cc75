package opensearch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/tool"
)

// SearchConfig configures opensearch_search.
type SearchConfig struct {
	URL          component.Template `yaml:"url" required:"true" vars:"env" doc:"URL of the cluster, such as https://search.example.org:9200 or ${env.OPENSEARCH_URL}."`
	Auth         Auth               `yaml:"auth" doc:"How requests authenticate."`
	Indices      []string           `yaml:"indices" doc:"Indices and aliases that may be used; wildcards such as logs-* are allowed. Queries that read other indices are refused. Default: all except those that begin with a dot."`
	MaxHits      int                `yaml:"max_hits" min:"1" max:"10000" doc:"Maximum number of documents per search. Default of a call: 10."`
	AllowScripts bool               `yaml:"allow_scripts" doc:"Whether queries may contain Painless scripts, which the cluster runs."`
	AllowPrivate bool               `yaml:"allow_private" doc:"Whether the cluster may have a private address. An IP address or localhost in url is always allowed."`
	MaxBytes     int64              `yaml:"max_bytes" min:"1" max:"67108864" doc:"Maximum response size in bytes, after decompression."`
}

// Access implements tool.AccessDescriber.
func (c *SearchConfig) Access() []string {
	return append(tool.Connects(c.URL, nil), c.Auth.access()...)
}

// search returns the factory of opensearch_search.
func search(sign Signer) component.Factory[tool.Settings, tool.Tool] {
	return component.New("opensearch_search", "Searches an OpenSearch index with the query DSL.",
		func() SearchConfig {
			d := defaults()
			return SearchConfig{Auth: d.Auth, MaxHits: 50, MaxBytes: d.MaxBytes}
		},
		func(c *SearchConfig, s tool.Settings) (tool.Tool, error) {
			s.Name = cmp.Or(s.Name, "opensearch_search")
			at, err := newServer(Config{URL: c.URL, Auth: c.Auth, Indices: c.Indices, AllowPrivate: c.AllowPrivate, MaxBytes: c.MaxBytes}, sign, s)
			if err != nil {
				return nil, err
			}
			info := at.toolInfo("Searches an OpenSearch index with a query in OpenSearch query DSL and returns the matching documents and any aggregations.", searchInput)
			return &searchTool{info, at, c.MaxHits, c.AllowScripts}, nil
		})
}

const searchInput = `{"type":"object","properties":{` +
	`"index":{"type":"string","description":"Index name; wildcards such as logs-* are allowed."},` +
	`"query":{"type":["object","string"],"description":"Search request in OpenSearch query DSL, such as {\"query\": {\"match\": {\"message\": \"timeout\"}}, \"sort\": [{\"@timestamp\": \"desc\"}]}; put aggs, _source and so on next to query. A plain string is searched as words."},` +
	`"size":{"type":"integer","description":"Maximum number of documents (default: 10). Set size to 0 in the query to get aggregations only."}` +
	`},"required":["index","query"],"additionalProperties":false}`

type searchTool struct {
	info    tool.Info
	server  *server
	maxHits int
	scripts bool
}

var _ tool.Tool = (*searchTool)(nil)

// Info implements tool.Tool.
func (t *searchTool) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *searchTool) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	var index string
	var query json.RawMessage
	var size int
	err := arguments(call, argument{"index", &index, "a name"}, argument{"query", &query, "an object"}, argument{"size", &size, "a whole number"})
	if err != nil {
		return nil, err
	}
	if err := t.server.config.checkIndex(index); err != nil {
		return nil, err
	}
	if query == nil {
		return nil, errors.New(`argument "query" is missing; {"query": {"match_all": {}}} matches everything`)
	}
	body, err := t.body(query, size)
	if err != nil {
		return nil, err
	}
	answer, err := t.server.ask(ctx, call, apiRequest{path: "/" + target(index) + "/_search", body: body})
	if err != nil {
		return nil, err
	}
	return t.compact(answer)
}

// searchResponse is a response of _search.
type searchResponse struct {
	TimedOut bool `json:"timed_out"`
	Shards   struct {
		Total    int                      `json:"total"`
		Failed   int                      `json:"failed"`
		Failures []struct{ Reason cause } `json:"failures"`
	} `json:"_shards"`
	Hits struct {
		Total json.RawMessage              `json:"total"`
		Hits  []map[string]json.RawMessage `json:"hits"`
	} `json:"hits"`
	Aggregations json.RawMessage `json:"aggregations"`
	Suggest      json.RawMessage `json:"suggest"`
	Profile      json.RawMessage `json:"profile"`
}

// result is the output for the model.
type result struct {
	Total        json.RawMessage `json:"total,omitempty"`
	Hits         []hit           `json:"hits"`
	Aggregations json.RawMessage `json:"aggregations,omitempty"`
	Suggest      json.RawMessage `json:"suggest,omitempty"`
	Profile      json.RawMessage `json:"profile,omitempty"`
}

type hit struct {
	Index     json.RawMessage `json:"_index"`
	ID        json.RawMessage `json:"_id"`
	Score     json.RawMessage `json:"_score"`
	Source    json.RawMessage `json:"_source,omitempty"`
	Fields    json.RawMessage `json:"fields,omitempty"`
	Highlight json.RawMessage `json:"highlight,omitempty"`
	Sort      json.RawMessage `json:"sort,omitempty"`
	Inner     json.RawMessage `json:"inner_hits,omitempty"`
	Why       json.RawMessage `json:"_explanation,omitempty"`
	Matched   json.RawMessage `json:"matched_queries,omitempty"`
	Version   json.RawMessage `json:"_version,omitempty"`
	SeqNo     json.RawMessage `json:"_seq_no,omitempty"`
	Term      json.RawMessage `json:"_primary_term,omitempty"`
}

// compact converts a response into a compact result and notes what is missing in it.
func (t *searchTool) compact(body []byte) (*tool.Output, error) {
	var a searchResponse
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("decode OpenSearch's response: %w", err)
	}
	out := result{Total: a.Hits.Total, Hits: []hit{}, Aggregations: a.Aggregations, Suggest: a.Suggest, Profile: a.Profile}
	for _, h := range a.Hits.Hits[:min(len(a.Hits.Hits), t.maxHits)] {
		out.Hits = append(out.Hits, hit{
			Index: h["_index"], ID: h["_id"], Score: h["_score"], Source: h["_source"],
			Fields: h["fields"], Highlight: h["highlight"], Sort: h["sort"], Inner: h["inner_hits"],
			Why: h["_explanation"], Matched: h["matched_queries"], Version: h["_version"], SeqNo: h["_seq_no"], Term: h["_primary_term"],
		})
	}
	data, err := jsonvalue.Marshal(out)
	if err != nil {
		return nil, err
	}
	notes := a.notes()
	if notes == "" {
		return &tool.Output{Data: data}, nil
	}
	return &tool.Output{Text: string(data) + "\n" + notes, Data: data}, nil
}

// notes describes what is missing in a response.
func (a *searchResponse) notes() string {
	var out []string
	if a.TimedOut {
		out = append(out, "[the search ran out of time: there may be more]")
	}
	if n := a.Shards.Failed; n > 0 {
		why := ""
		if len(a.Shards.Failures) > 0 {
			why = ": " + a.Shards.Failures[0].Reason.sentence()
		}
		out = append(out, fmt.Sprintf("[%d of %d shards failed, and their documents are missing%s]", n, a.Shards.Total, why))
	}
	return strings.Join(out, "\n")
}
