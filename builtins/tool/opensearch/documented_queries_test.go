package opensearch_test

import (
	"encoding/json"
	"testing"
)

// honest are queries from OpenSearch's documentation, one of each kind, and fields whose
// names look like forbidden keys.
var documentedQueries = map[string]string{
	"bool":                `{"query":{"bool":{"must":[{"match":{"title":"wind"}}],"filter":[{"range":{"@timestamp":{"gte":"now-1d/d","lte":"now/d"}}}],"must_not":{"term":{"a":1}},"should":[],"minimum_should_match":1}}}`,
	"multi_match":         `{"query":{"multi_match":{"query":"wind","fields":["title^4","plot"],"type":"best_fields"}}}`,
	"nested":              `{"query":{"nested":{"path":"patient","query":{"match":{"patient.name":"x"}},"inner_hits":{}}}}`,
	"has_child":           `{"query":{"has_child":{"type":"x","query":{"match_all":{}},"inner_hits":{}}}}`,
	"knn":                 `{"size":2,"query":{"knn":{"my_vector":{"vector":[2,3,5],"k":2,"filter":{"term":{"a":1}}}}}}`,
	"neural":              `{"_source":{"excludes":["passage_embedding"]},"query":{"neural":{"passage_embedding":{"query_text":"Hi","model_id":"aV","k":5}}}}`,
	"hybrid":              `{"query":{"hybrid":{"queries":[{"match":{"text":"hi"}},{"neural":{"e":{"query_text":"hi","model_id":"m","k":5}}}]}}}`,
	"neural_sparse":       `{"query":{"neural_sparse":{"e":{"query_text":"Hi","model_id":"m"}}}}`,
	"highlight":           `{"query":{"match":{"t":"x"}},"highlight":{"pre_tags":["<b>"],"fields":{"t":{"type":"plain"}}}}`,
	"sort":                `{"query":{"match_all":{}},"sort":[{"@timestamp":{"order":"desc","unmapped_type":"date"}},"_score"]}`,
	"geo sort":            `{"sort":[{"_geo_distance":{"loc":[-74,40],"order":"asc","unit":"km"}}],"query":{"match_all":{}}}`,
	"collapse":            `{"query":{"match":{"m":"x"}},"collapse":{"field":"user.id","inner_hits":{"name":"recent","size":3,"sort":[{"t":"desc"}]}}}`,
	"suggest":             `{"suggest":{"s":{"text":"wnd","term":{"field":"title"}}}}`,
	"phrase suggest":      `{"suggest":{"text":"a","p":{"phrase":{"field":"title.trigram","direct_generator":[{"field":"t"}]}}}}`,
	"completion":          `{"suggest":{"autocomplete":{"prefix":"h","completion":{"field":"suggest","fuzzy":{"fuzziness":2}}}}}`,
	"date_histogram":      `{"size":0,"aggs":{"per_day":{"date_histogram":{"field":"@timestamp","calendar_interval":"day"},"aggs":{"e":{"avg":{"field":"ms"}}}}}}`,
	"composite":           `{"size":0,"aggs":{"c":{"composite":{"sources":[{"d":{"terms":{"field":"x"}}}],"after":{"d":1}}}}}`,
	"top_hits":            `{"size":0,"aggs":{"c":{"terms":{"field":"x","size":5},"aggs":{"t":{"top_hits":{"size":1,"_source":["a"]}}}}}}`,
	"filters":             `{"size":0,"aggs":{"m":{"filters":{"filters":{"errors":{"match":{"b":"error"}}}}}}}`,
	"percentiles":         `{"size":0,"aggs":{"p":{"percentiles":{"field":"ms","percents":[50,95,99]}}}}`,
	"rare":                `{"size":0,"aggs":{"p":{"significant_terms":{"field":"ms"}}}}`,
	"pipeline agg":        `{"size":0,"aggs":{"m":{"date_histogram":{"field":"t","calendar_interval":"month"},"aggs":{"s":{"sum":{"field":"p"}}}},"max":{"max_bucket":{"buckets_path":"m>s"}}}}`,
	"source filter":       `{"_source":{"includes":["a*"],"excludes":["b"]},"query":{"match_all":{}}}`,
	"source false":        `{"_source":false,"fields":["a",{"field":"t","format":"epoch_millis"}],"query":{"match_all":{}}}`,
	"explain":             `{"explain":true,"query":{"match":{"a":"b"}}}`,
	"profile":             `{"profile":true,"query":{"match":{"a":"b"}}}`,
	"named":               `{"query":{"match":{"a":{"query":"b","_name":"n1"}}}}`,
	"search_after":        `{"query":{"match_all":{}},"sort":[{"a":"asc"}],"search_after":[1,"x"]}`,
	"query_string":        `{"query":{"query_string":{"query":"(a AND b) OR c:[1 TO 5]","default_field":"t"}}}`,
	"more_like_this text": `{"query":{"more_like_this":{"fields":["a"],"like":"text","min_term_freq":1}}}`,
	"more_like_this id":   `{"query":{"more_like_this":{"fields":["a"],"like":{"_id":"1"},"min_term_freq":1}}}`,
	"ids":                 `{"query":{"ids":{"values":["1","2"]}}}`,
	"exists":              `{"query":{"exists":{"field":"a"}}}`,
	"exists script":       `{"query":{"exists":{"field":"script_id"}}}`,
	"function_score":      `{"query":{"function_score":{"query":{"match":{"a":"b"}},"field_value_factor":{"field":"likes","factor":1.2,"modifier":"sqrt"},"boost_mode":"multiply"}}}`,
	"decay":               `{"query":{"function_score":{"functions":[{"gauss":{"d":{"origin":"now","scale":"6d"}}},{"filter":{"term":{"a":1}},"weight":2},{"random_score":{"seed":1,"field":"_seq_no"}}]}}}`,
	"dis_max":             `{"query":{"dis_max":{"queries":[{"match":{"a":"b"}}],"tie_breaker":0.7}}}`,
	"boosting":            `{"query":{"boosting":{"positive":{"match":{"a":"b"}},"negative":{"match":{"a":"c"}},"negative_boost":0.5}}}`,
	"intervals":           `{"query":{"intervals":{"t":{"all_of":{"ordered":true,"intervals":[{"match":{"query":"a","max_gaps":0}}]}}}}}`,
	"span":                `{"query":{"span_near":{"clauses":[{"span_term":{"a":"b"}}],"slop":4}}}`,
	"geo":                 `{"query":{"geo_distance":{"distance":"10km","loc":{"lat":1,"lon":2}}}}`,
	"geo_shape inline":    `{"query":{"geo_shape":{"l":{"shape":{"type":"envelope","coordinates":[[1,2],[3,0]]},"relation":"within"}}}}`,
	"rescore":             `{"query":{"match":{"a":"b"}},"rescore":{"window_size":50,"query":{"rescore_query":{"match_phrase":{"a":{"query":"x","slop":2}}}}}}`,
	"post_filter":         `{"query":{"match_all":{}},"post_filter":{"term":{"a":1}}}`,
	"term field script":   `{"query":{"term":{"script":"latin"}}}`,
	"match field":         `{"query":{"match":{"movie_script":"x"}}}`,
	"sort field":          `{"query":{"match_all":{}},"sort":[{"script_id":"asc"}]}`,
	"sort field 2":        `{"query":{"match_all":{}},"sort":[{"script_id":{"order":"asc"}}]}`,
	"highlight field":     `{"query":{"match":{"a":"x"}},"highlight":{"fields":{"script_text":{}}}}`,
	"terms field":         `{"query":{"terms":{"script_id":["1"]}}}`,
	"range field":         `{"query":{"range":{"script_version":{"gte":1}}}}`,
	"term field index":    `{"query":{"term":{"index":"customers"}}}`,
	"term _index":         `{"query":{"term":{"_index":"logs-7"}}}`,
	"agg on _index":       `{"size":0,"aggs":{"i":{"terms":{"field":"_index"}}}}`,
	"match obj index":     `{"query":{"match":{"index":{"query":"customers"}}}}`,
	"agg named index":     `{"size":0,"aggs":{"index":{"terms":{"field":"a"}}}}`,
	"agg named scripts":   `{"size":0,"aggs":{"scripts":{"terms":{"field":"a"}}}}`,
	"sort by index":       `{"query":{"match_all":{}},"sort":[{"index":"asc"}]}`,
	"sort by _index":      `{"query":{"match_all":{}},"sort":{"_index":"asc"}}`,
	"track":               `{"query":{"match_all":{}},"track_total_hits":true,"from":10,"size":"5"}`,
	"sort only":           `{"sort":[{"a":"desc"}]}`,
}

func TestDocumentedQueriesAreSent(t *testing.T) {
	c := newCluster(t, 200, `{}`)
	for _, open := range [][]string{nil, {"*"}, {"logs-*"}} {
		tool := newTool(t, "opensearch_search", settings{url: c.base, indices: open})
		for name, query := range documentedQueries {
			if _, err := call(t, tool, args{"index": "logs-1", "query": json.RawMessage(query)}); err != nil || len(c.take()) != 1 {
				t.Errorf("%s, open %v: %v", name, open, err)
			}
		}
	}
}

// Parts of a response other than documents are shown if requested.
func TestSearchShowsRequestedParts(t *testing.T) {
	c := newCluster(t, 200, `{"_shards":{"total":1},"hits":{"total":{"value":1},"hits":[{"_index":"a","_id":"1","_score":1,`+
		`"_explanation":{"value":1},"matched_queries":["n"],"_version":3,"_seq_no":4,"_primary_term":1}]},"profile":{"shards":[]}}`)
	got, err := call(t, newTool(t, "opensearch_search", settings{url: c.base}), args{"index": "a", "query": json.RawMessage(`{"explain":true,"profile":true,"version":true}`)})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"total":{"value":1},"hits":[{"_index":"a","_id":"1","_score":1,"_explanation":{"value":1},"matched_queries":["n"],"_version":3,"_seq_no":4,"_primary_term":1}],"profile":{"shards":[]}}`
	if string(got.Data) != want {
		t.Errorf("gave %s", got.Data)
	}
}
