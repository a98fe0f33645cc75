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

// SearchConfig is the settings of opensearch_search.
type SearchConfig struct {
	URL          component.Template `yaml:"url" required:"true" vars:"env" doc:"The cluster, such as https://search.example.org:9200 or ${env.OPENSEARCH_URL}."`
	Auth         Auth               `yaml:"auth" doc:"Who asks."`
	Indices      []string           `yaml:"indices" doc:"Indices and aliases that may be used, with * as in logs-*; queries that look into others are refused. Default: all but those that begin with a dot, which must be named here."`
	MaxHits      int                `yaml:"max_hits" min:"1" max:"10000" doc:"Documents that a search gives at most; a model that says nothing gets 10."`
	AllowScripts bool               `yaml:"allow_scripts" doc:"Queries may hold scripts (Painless), which the cluster runs."`
	AllowPrivate bool               `yaml:"allow_private" doc:"The cluster may lie in a private network. An address or localhost in url may without this."`
	MaxBytes     int64              `yaml:"max_bytes" min:"1" max:"67108864" doc:"The largest answer that is read, counted after decompression."`
}

// Reaches implements tool.AccessDescriber.
func (c *SearchConfig) Reaches() []string {
	return append(tool.Connects(c.URL, nil), c.Auth.reaches()...)
}

// search is opensearch_search.
func search(sign Signer) component.Factory[tool.Settings, tool.Tool] {
	return component.New("opensearch_search", "Searches an OpenSearch index by its query DSL.",
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
			info := at.about("Searches an OpenSearch index by a query in OpenSearch's query DSL and gives the documents found, and aggregations if any are asked for.", searchInput)
			return &searchTool{info, at, c.MaxHits, c.AllowScripts}, nil
		})
}

const searchInput = `{"type":"object","properties":{` +
	`"index":{"type":"string","description":"Name of the index, with * as in logs-*."},` +
	`"query":{"type":["object","string"],"description":"The search in OpenSearch's query DSL, such as {\"query\": {\"match\": {\"message\": \"timeout\"}}, \"sort\": [{\"@timestamp\": \"desc\"}]}; aggs, _source and so on go beside query. A plain text is searched as words."},` +
	`"size":{"type":"integer","description":"How many documents are wanted; 0 in the query gives aggregations only."}` +
	`},"required":["index","query"],"additionalProperties":false}`

type searchTool struct {
	info    tool.Info
	server  *server
	most    int
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
	if err := t.server.config.reach(index); err != nil {
		return nil, err
	}
	if query == nil {
		return nil, errors.New(`argument "query" is missing; {"query": {"match_all": {}}} gives everything`)
	}
	body, err := t.body(query, size)
	if err != nil {
		return nil, err
	}
	answer, err := t.server.ask(ctx, call, question{path: "/" + target(index) + "/_search", body: body})
	if err != nil {
		return nil, err
	}
	return t.found(answer)
}

// answered is an answer of _search.
type answered struct {
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

// result is what a model sees of it.
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

// found makes an answer compact, and says when it is not the whole one.
func (t *searchTool) found(body []byte) (*tool.Output, error) {
	var a answered
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("OpenSearch's answer cannot be read: %w", err)
	}
	out := result{Total: a.Hits.Total, Hits: []hit{}, Aggregations: a.Aggregations, Suggest: a.Suggest, Profile: a.Profile}
	for _, h := range a.Hits.Hits[:min(len(a.Hits.Hits), t.most)] {
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

// notes say what is missing in an answer.
func (a *answered) notes() string {
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
