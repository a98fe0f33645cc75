package opensearch_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/httpclient/guardtest"
)

// noIndex are texts that are never the name of one index.
var noIndex = []string{
	"", " ", "a b", "_all ", "_cat", "_search", "_bulk", "_cluster/settings", "_plugins/_ml/agents", "_nodes", "_security", "-logs", "+logs", ".", "..",
	"a,b", "logs-1,customers", "logs-*,-logs-1", "*,customers", ",", "a,", ",a", "a%2Cb", "a%2cb",
	"cluster:logs", "*:logs", "c:*", ":logs", "<logs-{now/d}>", "%3Clogs-%7Bnow%2Fd%7D%3E", "<logs>", "a/b", "a/_doc/1", "a%2Fb", "a%2f_search", "a%252Fb", "../_cat/indices", "..%2f",
	"a\\b", "a?b", "a?pretty", "a#b", "a\"b", "a|b", "a;b", "a&b=c", "a=b", "a@b", "http://evil.example", "a\nb", "a\x00b", "a\r\nHost: x", "a\tb",
	"a{b}", "a[b]", "a(b)", "a'b", "a`b", "a$b", "a!b", "a^b", "a~b", "\u2028", "\u200b", "a\u202eb", "logs\uff0c1", "a\ufe50b", "🙂", strings.Repeat("a", 256), "\xff\xfe",
}

// notOpen are index names that are not allowed by logs-* and metrics.
var notOpen = []string{
	"*", "_all", "**", "l*", "log*", "*logs-*", "*-1", "logs", "customers", "metrics-1", "metric*", "metrics*", "Logs-1", ".opendistro_security", ".kibana", ".*", ".logs-1",
	"xlogs-1", "l0gs-1", "ıogs-1",
}

func TestInvalidIndexNamesAreRejected(t *testing.T) {
	c := newCluster(t, 200, `{}`)
	for name, with := range names {
		for _, open := range [][]string{nil, {"*"}, {"logs-*", "metrics"}} {
			tool := newTool(t, name, settings{url: c.base, indices: open})
			for _, index := range append(append([]string{}, noIndex...), guardtest.Hostile...) {
				if out, err := call(t, tool, with(index)); err == nil {
					t.Errorf("%s, open %v: %q gave %+v", name, open, index, out)
				}
				if got := c.take(); len(got) > 0 {
					t.Errorf("%s, open %v: %q asked %+v", name, open, index, got)
				}
			}
		}
	}
}

func TestForbiddenIndicesAreRejected(t *testing.T) {
	c := newCluster(t, 200, `{}`)
	for name, with := range names {
		tool := newTool(t, name, settings{url: c.base, indices: []string{"logs-*", "metrics"}})
		for _, index := range notOpen {
			if name == "opensearch_list_index" && (index == "*" || index == "_all") {
				continue // matches all allowed indices
			}
			out, err := call(t, tool, with(index))
			if err == nil || len(c.take()) > 0 {
				t.Errorf("%s: %q gave %+v", name, index, out)
			} else if text := err.Error(); !strings.Contains(text, "logs-*, metrics") && !strings.Contains(text, "is not a valid index name") {
				t.Errorf("%s: %q: %v", name, index, err)
			}
		}
		own := newTool(t, name, settings{url: c.base})
		for _, index := range []string{".opendistro_security", ".*", ".kibana_1", "*security", "**"} {
			if _, err := call(t, own, with(index)); err == nil || len(c.take()) > 0 {
				t.Errorf("%s: %q was asked for: %v", name, index, err)
			}
		}
	}
}

func TestAllowedIndicesAreRequested(t *testing.T) {
	c := newCluster(t, 200, `{}`)
	for index, open := range map[string][]string{
		"logs-1": {"logs-*"}, "logs-": {"logs-*"}, "logs-*": {"logs-*"}, "logs-2026-*": {"logs-*"}, "logs-*-eu": {"logs-*"}, "metrics": {"logs-*", "metrics"},
		"a-x-b-y-c": {"a*b*c"}, "a*b*c": {"a*b*c"}, "a**bc": {"a*b*c"}, ".mine-1": {".mine-*"}, "Übersicht-三": {"*"}, "customers": nil, "Alias": nil, "a..b": nil, "log*": nil,
	} {
		tool := newTool(t, "opensearch_index_mapping", settings{url: c.base, indices: open})
		if _, err := call(t, tool, args{"index": index}); err != nil {
			t.Errorf("%q, open %v: %v", index, open, err)
		}
		got := c.take()
		want := "/" + strings.ReplaceAll(url.PathEscape(index), "%2A", "*") + "/_mapping"
		if len(got) != 1 || got[0].Path != want {
			t.Errorf("%q asked %+v", index, got)
		}
	}
	for name, with := range names {
		for _, own := range []string{".opendistro_security", ".*", ".kib*"} {
			fails(t, newTool(t, name, settings{url: c.base, indices: []string{"*", "logs-*"}}), with(own), "is not allowed")
		}
	}
	every := newTool(t, "opensearch_index_mapping", settings{url: c.base, indices: []string{"*"}})
	if _, err := call(t, every, args{"index": "*-1"}); err != nil || c.take()[0].Path != "/*-1,-.*/_mapping" {
		t.Errorf("a star at the start takes in what begins with a dot: %v", err)
	}
}

// hostile are queries that run code, hide what they do, or read indices other than
// logs-*.
var hostile = map[string]string{
	"script query":                `{"query":{"script":{"script":"doc['a'].value > 1"}}}`,
	"script in a clause":          `{"bool":{"filter":[{"script":{"script":{"source":"1"}}}]}}`,
	"script_score":                `{"query":{"script_score":{"query":{"match_all":{}},"script":{"source":"1"}}}}`,
	"function_score":              `{"query":{"function_score":{"functions":[{"script_score":{"script":"1"}}]}}}`,
	"script_fields":               `{"script_fields":{"x":{"script":"1"}}}`,
	"script_fields and more":      `{"query":{"match_all":{}},"script_fields":{"x":{"script":"1"}}}`,
	"runtime_mappings":            `{"runtime_mappings":{"x":{"type":"long","script":"emit(1)"}}}`,
	"derived":                     `{"derived":{"x":{"type":"long","script":"emit(1)"}},"query":{"match_all":{}}}`,
	"sort by script":              `{"query":{"match_all":{}},"sort":{"_script":{"type":"number","script":"1"}}}`,
	"sort by scripts":             `{"query":{"match_all":{}},"sort":[{"a":"asc"},{"_script":{"script":"1"}}]}`,
	"scripted_metric":             `{"aggs":{"x":{"scripted_metric":{"init_script":"state.x=[]","map_script":"1","combine_script":"1","reduce_script":"1"}}}}`,
	"map_script alone":            `{"aggs":{"x":{"other":{"map_script":"1"}}}}`,
	"bucket_script":               `{"aggs":{"x":{"terms":{"field":"a"},"aggs":{"y":{"bucket_script":{"buckets_path":{},"script":"1"}}}}}}`,
	"bucket_selector":             `{"aggs":{"y":{"bucket_selector":{"buckets_path":{},"script":"1"}}}}`,
	"terms by script":             `{"aggs":{"x":{"terms":{"script":"doc.a.value"}}}}`,
	"moving_fn":                   `{"aggs":{"x":{"moving_fn":{"script":"MovingFunctions.max(values)"}}}}`,
	"terms_set":                   `{"query":{"terms_set":{"a":{"terms":["b"],"minimum_should_match_script":{"source":"1"}}}}}`,
	"intervals":                   `{"query":{"intervals":{"a":{"match":{"query":"b","filter":{"script":{"source":"1"}}}}}}}`,
	"rescore":                     `{"query":{"match_all":{}},"rescore":{"query":{"rescore_query":{"function_score":{"script_score":{"script":"1"}}}}}}`,
	"collate":                     `{"suggest":{"x":{"phrase":{"field":"a","collate":{"query":{"source":"{}"}}}}}}`,
	"upper case":                  `{"query":{"Script":{"SCRIPT":"1"}}}`,
	"escaped key":                 `{"query":{"\u0073cript":{"script":"1"}}}`,
	"wrapper":                     `{"query":{"wrapper":{"query":"eyJtYXRjaF9hbGwiOnt9fQ=="}}}`,
	"wrapper alone":               `{"wrapper":{"query":"eyJtYXRjaF9hbGwiOnt9fQ=="}}`,
	"wrapper in a filter":         `{"aggs":{"x":{"filter":{"bool":{"must":[{"wrapper":{"query":"e30="}}]}}}}}`,
	"terms lookup":                `{"query":{"terms":{"user":{"index":"customers","id":"1","path":"id"}}}}`,
	"terms lookup by query":       `{"query":{"terms":{"user":{"index":"customers","path":"id","query":{"match_all":{}}}}}}`,
	"terms lookup, star":          `{"query":{"terms":{"user":{"index":"*","id":"1","path":"id"}}}}`,
	"terms lookup, number":        `{"query":{"terms":{"user":{"index":2026,"id":"1","path":"id"}}}}`,
	"terms lookup, twice":         `{"query":{"terms":{"user":{"index":"logs-1","index":"customers","id":"1","path":"id"}}}}`,
	"terms lookup, own":           `{"query":{"terms":{"user":{"index":".opendistro_security","id":"1","path":"id"}}}}`,
	"terms lookup, date math":     `{"query":{"terms":{"user":{"index":"<logs-{now/d}>","id":"1","path":"id"}}}}`,
	"terms lookup, remote":        `{"query":{"terms":{"user":{"index":"other:logs-1","id":"1","path":"id"}}}}`,
	"terms lookup, list":          `{"query":{"terms":{"user":{"index":"logs-1,.opendistro_security","id":"1","path":"id"}}}}`,
	"lookup by a field term":      `{"query":{"terms":{"term":{"index":"customers","id":"1","path":"id"}}}}`,
	"terms_set by a field term":   `{"query":{"terms_set":{"term":{"terms":["b"],"minimum_should_match_script":{"source":"1"}}}}}`,
	"range by script":             `{"aggs":{"x":{"range":{"script":"1"}}}}`,
	"an aggregation called terms": `{"aggs":{"terms":{"terms":{"script":"1"}}}}`,
	"an aggregation called term":  `{"aggs":{"term":{"scripted_metric":{"init_script":"1"}}}}`,
	"a filter called match":       `{"aggs":{"x":{"filters":{"filters":{"match":{"script":{"script":"1"}}}}}}}`,
	"a wrapper called match":      `{"aggs":{"x":{"filters":{"filters":{"match":{"wrapper":{"query":"e30="}}}}}}}`,
	"a lookup called match":       `{"aggs":{"x":{"filters":{"filters":{"match":{"terms":{"u":{"index":".x","id":"1"}}}}}}}}`,
	"more_like_this":              `{"query":{"more_like_this":{"fields":["a"],"like":[{"_index":"customers","_id":"1"}]}}}`,
	"geo_shape":                   `{"query":{"geo_shape":{"g":{"indexed_shape":{"index":"customers","id":"1"}}}}}`,
	"geo_shape by default":        `{"query":{"geo_shape":{"g":{"indexed_shape":{"id":"1"}}}}}`,
	"geo_shape, null":             `{"query":{"geo_shape":{"g":{"indexed_shape":{"index":null,"id":"1"}}}}}`,
	"percolate":                   `{"query":{"percolate":{"field":"q","index":"customers","id":"1"}}}`,
	"lookup in highlight":         `{"highlight":{"highlight_query":{"terms":{"a":{"index":"customers","id":"1","path":"p"}}}},"query":{"match_all":{}}}`,
	"lookup in post_filter":       `{"post_filter":{"terms":{"a":{"index":"customers","id":"1","path":"p"}}},"query":{"match_all":{}}}`,
	"pit":                         `{"pit":{"id":"x"},"query":{"match_all":{}}}`,
	"search_pipeline":             `{"search_pipeline":{"request_processors":[]},"query":{"match_all":{}}}`,
	"ext":                         `{"ext":{"generative_qa_parameters":{}},"query":{"match_all":{}}}`,
	"a bulk":                      `{"index":{"_index":"logs-1"}}` + "\n" + `{"a":1}`,
	"two values":                  `{"query":{"match_all":{}}} {"query":{"match_all":{}}}`,
	"nested too deeply":           strings.Repeat(`{"bool":{"must":[`, 100) + `{"match_all":{}}` + strings.Repeat(`]}}`, 100),
	"a size that is none":         `{"query":[{"match_all":{}}],"size":{}}`,
	"cut":                         `{"query":{"match_all":{}}`,
	"size":                        `{"query":{"match_all":{}},"size":"many"}`,
	"negative size":               `{"query":{"match_all":{}},"size":-1}`,
	"too long":                    `{"query":{"match":{"a":"` + strings.Repeat("x", 1<<20) + `"}}}`,
}

func TestQueriesCannotReadOtherIndices(t *testing.T) {
	c := newCluster(t, 200, `{}`)
	one := newTool(t, "opensearch_search", settings{url: c.base, indices: []string{"logs-*"}})
	for name, query := range hostile {
		for form, q := range map[string]any{"object": json.RawMessage(query), "text": query} {
			raw, err := json.Marshal(q)
			if err != nil {
				raw = []byte(query) // not JSON: as a model
			}
			arguments := `{"index":"logs-1","query":` + string(raw) + `}`
			out, err := one.Call(t.Context(), &tool.Call{Args: json.RawMessage(arguments)})
			if err == nil || len(c.take()) > 0 {
				t.Errorf("%s as %s gave %+v", name, form, out)
			}
		}
	}
}

// A lookup of an invalid index name is rejected, whatever the author allows.
func TestLookupsOfInvalidNamesAreRejected(t *testing.T) {
	c := newCluster(t, 200, `{}`)
	for _, open := range [][]string{nil, {"*"}} {
		tool := newTool(t, "opensearch_search", settings{url: c.base, indices: open})
		for _, name := range []string{"<.opendistro_security>", "<logs-{now/d}>", "other:logs", "a,.opendistro_security", ".opendistro_security", "-a", "_all"} {
			query := args{"query": args{"terms": args{"user": args{"index": name, "id": "1", "path": "id"}}}}
			fails(t, tool, args{"index": "logs-1", "query": query}, "which is not allowed")
		}
	}
	if got := c.take(); len(got) > 0 {
		t.Errorf("asked %+v", got)
	}
}

// Allowed queries are sent unchanged.
func TestAllowedQueriesAreSent(t *testing.T) {
	tests := []struct {
		name    string
		scripts bool
		query   any
		size    any
		want    string
	}{
		{"an object", false, json.RawMessage(`{"query":{"match_all":{}}}`), nil, `{"query":{"match_all":{}},"size":10}`},
		{"an object as text", false, ` {"query":{"match_all":{}},"size":3}`, nil, `{"query":{"match_all":{}},"size":3}`},
		{"a clause alone", false, json.RawMessage(`{"match":{"message":"a"}}`), nil, `{"query":{"match":{"message":"a"}},"size":10}`},
		{"words", false, `error AND timeout`, nil, `{"query":{"simple_query_string":{"lenient":true,"query":"error AND timeout"}},"size":10}`},
		{"aggregations only", false, json.RawMessage(`{"size":0,"aggs":{"n":{"value_count":{"field":"a"}}}}`), nil, `{"aggs":{"n":{"value_count":{"field":"a"}}},"size":0}`},
		{"the argument goes before", false, json.RawMessage(`{"query":{"match_all":{}},"size":3}`), 7, `{"query":{"match_all":{}},"size":7}`},
		{"no more than may be", false, json.RawMessage(`{"query":{"match_all":{}},"size":3000}`), nil, `{"query":{"match_all":{}},"size":50}`},
		{"a size as text", false, json.RawMessage(`{"query":{"match_all":{}},"size":"5"}`), nil, `{"query":{"match_all":{}},"size":5}`},
		{"a size with a point", false, json.RawMessage(`{"query":{"match_all":{}},"size":5.0}`), nil, `{"query":{"match_all":{}},"size":5}`},
		{"numbers as they are", false, json.RawMessage(`{"query":{"term":{"n":12345678901234567890}}}`), nil, `{"query":{"term":{"n":12345678901234567890}},"size":10}`},
		{"a field called description", false, json.RawMessage(`{"query":{"match":{"description":"script"}}}`), nil, `{"query":{"match":{"description":"script"}},"size":10}`},
		{"a lookup that may be", false, json.RawMessage(`{"query":{"terms":{"a":{"index":"logs-2","id":"1","path":"p"}}}}`), nil, `{"query":{"terms":{"a":{"id":"1","index":"logs-2","path":"p"}}},"size":10}`},
		{"scripts that may be", true, json.RawMessage(`{"script_fields":{"x":{"script":"1"}}}`), nil, `{"script_fields":{"x":{"script":"1"}},"size":10}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCluster(t, 200, `{}`)
			tool := newTool(t, "opensearch_search", settings{url: c.base, indices: []string{"logs-*"}, scripts: tt.scripts})
			a := args{"index": "logs-1", "query": tt.query}
			if tt.size != nil {
				a["size"] = tt.size
			}
			if _, err := call(t, tool, a); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, c.take()[0].Body); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Argument names must match exactly, whatever their spelling.
func TestArgumentNamesMustMatchExactly(t *testing.T) {
	c := newCluster(t, 200, `{}`)
	tool := newTool(t, "opensearch_search", settings{url: c.base})
	for _, a := range []args{
		{"index": "a", "query": "x", "INDEX": "b"},
		{"index": "a", "query": "x", "url": "http://evil.example"},
		{"index": "a", "query": "x", "path": "/_bulk"},
		{"index": "a", "query": "x", "method": "DELETE"},
	} {
		fails(t, tool, a, "unknown argument")
	}
	fails(t, tool, args{"index": 7, "query": "x"}, `argument "index" must be a name`)
	fails(t, tool, args{"index": "a"}, `argument "query" is missing`)
	fails(t, tool, args{"index": "a", "query": ""}, `argument "query" is empty`)
	fails(t, tool, args{"index": "a", "query": "x", "size": -2}, "must be positive")
	fails(t, tool, args{"index": "a", "query": "x", "size": 1.5}, "must be a whole number")
	if got := c.take(); len(got) > 0 {
		t.Errorf("asked %+v", got)
	}
}
