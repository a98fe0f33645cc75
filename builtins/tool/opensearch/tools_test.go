package opensearch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/tool"
)

func TestListIndex(t *testing.T) {
	tests := []struct {
		name    string
		indices []string // set by the author
		args    args
		path    string
		want    string
	}{
		{"all but the cluster's own", nil, args{}, "/_cat/indices", "customers logs-2026-10 logs-2026-11 logs-archive"},
		{"an empty list is all", nil, args{"indices": []string{}}, "/_cat/indices", "customers logs-2026-10 logs-2026-11 logs-archive"},
		{"a star is all", nil, args{"indices": []string{"*"}}, "/_cat/indices", "customers logs-2026-10 logs-2026-11 logs-archive"},
		{"those that are named", nil, args{"indices": []string{"logs-*", "customers"}}, "/_cat/indices/logs-*,customers", "customers logs-2026-10 logs-2026-11 logs-archive"},
		{"the author's", []string{"logs-2026-*"}, args{}, "/_cat/indices/logs-2026-*", "logs-2026-10 logs-2026-11"},
		{"a star among the author's", []string{"logs-2026-*"}, args{"indices": []string{"_all"}}, "/_cat/indices/logs-2026-*", "logs-2026-10 logs-2026-11"},
		{"some of the author's", []string{"logs-*"}, args{"indices": []string{"logs-2026-11"}}, "/_cat/indices/logs-2026-11", "logs-2026-10 logs-2026-11 logs-archive"},
		{"the cluster's own, named", []string{".opendistro*"}, args{}, "/_cat/indices/.opendistro*", ".opendistro_security"},
		{"none", []string{"metrics-*"}, args{}, "/_cat/indices/metrics-*", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newCluster(t, 200, file(t, "cat_indices.json"))
			out, err := call(t, newTool(t, "opensearch_list_index", settings{url: c.base, indices: tt.indices}), tt.args)
			if err != nil {
				t.Fatal(err)
			}
			want := []recordedRequest{{Method: "GET", Path: tt.path, Query: "format=json&h=index%2Chealth%2Cstatus%2Cdocs.count%2Cstore.size&s=index"}}
			if diff := cmp.Diff(want, c.take(), ignoreHeader); diff != "" {
				t.Error(diff)
			}
			var got []string
			for part := range strings.SplitSeq(string(out.Data), `"index":"`) {
				if name, _, ok := strings.Cut(part, `"`); ok && !strings.HasPrefix(part, "[") {
					got = append(got, name)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("gave %s", out.Data)
			}
		})
	}
}

var ignoreHeader = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".header" }, cmp.Ignore())

func TestListIndexIsLimited(t *testing.T) {
	row := `{"index":"logs-1","docs.count":"1"}`
	c := newCluster(t, 200, "["+strings.Repeat(row+",", 2000)+row+"]")
	out, err := call(t, newTool(t, "opensearch_list_index", settings{url: c.base}), args{})
	if err != nil || strings.Count(string(out.Data), "logs-1") != 500 || !strings.Contains(out.Text, "[500 of 2001 indices shown") {
		t.Errorf("%v: %.300s", err, out.Text)
	}
}

func TestIndexMapping(t *testing.T) {
	c := newCluster(t, 200, file(t, "mapping.json"))
	out, err := call(t, newTool(t, "opensearch_index_mapping", settings{url: c.base + "/proxy/"}), args{"index": "logs-*"})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"index logs-2026-11:", "  @timestamp date", "  message text", "  message.raw keyword", "  tags nested", "  tags.name keyword",
		"  user.geo geo_point", "  user.id keyword", "  when alias of @timestamp", "index logs-empty:", "  no fields",
	}, "\n")
	if diff := cmp.Diff(want, out.Text); diff != "" {
		t.Error(diff)
	}
	if got := c.take(); len(got) != 1 || got[0].Method != "GET" || got[0].Path != "/proxy/logs-*/_mapping" || got[0].Body != "" {
		t.Errorf("asked %+v", got)
	}
	none := newCluster(t, 200, `{}`)
	if out, err := call(t, newTool(t, "opensearch_index_mapping", settings{url: none.base}), args{"index": "nothing-*"}); err != nil || out.Text != "No index matches." {
		t.Errorf("gave %+v, %v", out, err)
	}
}

func TestSearch(t *testing.T) {
	c := newCluster(t, 200, file(t, "search.json"))
	out, err := call(t, newTool(t, "opensearch_search", settings{url: c.base}), args{
		"index": "logs-2026-11",
		"query": args{"query": args{"match": args{"message": "timeout"}}, "aggs": args{"by_user": args{"terms": args{"field": "user.id"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"total":{"value":2,"relation":"eq"},"hits":[` +
		`{"_index":"logs-2026-11","_id":"a1","_score":1.3862942,"_source":{"message":"timeout <db>","n":12345678901234567890}},` +
		`{"_index":"logs-2026-11","_id":"a2","_score":null,"_source":{"message":"timeout"},"highlight":{"message":["<em>timeout</em>"]},"sort":[1763769600000]}],` +
		`"aggregations":{"by_user":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"u1","doc_count":2}]}}}`
	if diff := cmp.Diff(want, string(out.Data)); diff != "" || out.Text != "" {
		t.Error(diff, out.Text)
	}
	sent := []recordedRequest{{
		Method: "POST", Path: "/logs-2026-11/_search",
		Body: `{"aggs":{"by_user":{"terms":{"field":"user.id"}}},"query":{"match":{"message":"timeout"}},"size":10}`,
	}}
	if diff := cmp.Diff(sent, c.take(), ignoreHeader); diff != "" {
		t.Error(diff)
	}
}

func TestSearchNotesWhatIsMissing(t *testing.T) {
	c := newCluster(t, 200, file(t, "partial.json"))
	out, err := call(t, newTool(t, "opensearch_search", settings{url: c.base}), args{"index": "logs-*", "query": "timeout"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"total":{"value":10000,"relation":"gte"},"hits":[]}`, "[the search ran out of time", "[1 of 5 shards failed, and their documents are missing: Text fields are not optimised"} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("%q is not in %s", want, out.Text)
		}
	}
}

func TestSearchIsLimited(t *testing.T) {
	hit := `{"_index":"a","_id":"1","_score":1,"_source":{"x":"` + strings.Repeat("y", 1000) + `"}}`
	c := newCluster(t, 200, `{"hits":{"total":5000,"hits":[`+strings.Repeat(hit+",", 4999)+hit+`]}}`)
	many := newTool(t, "opensearch_search", settings{url: c.base, hits: 3})
	out, err := call(t, many, args{"index": "a", "query": "x", "size": 9999})
	if err != nil || strings.Count(string(out.Data), `"_id"`) != 3 || !strings.Contains(c.take()[0].Body, `"size":3`) {
		t.Errorf("%v: %.200s", err, out.Data)
	}
	small := newTool(t, "opensearch_search", settings{url: c.base, bytes: 100_000})
	fails(t, small, args{"index": "a", "query": "x"}, "response is too large")
}

func TestConformance(t *testing.T) {
	ok := map[string]string{
		"opensearch_list_index":    `{"indices":["logs-*"]}`,
		"opensearch_index_mapping": `{"index":"logs-*"}`,
		"opensearch_search":        `{"index":"logs-*","query":{"query":{"match_all":{}}}}`,
	}
	answers := map[string]string{"opensearch_list_index": "cat_indices.json", "opensearch_index_mapping": "mapping.json", "opensearch_search": "search.json"}
	for name, args := range ok {
		t.Run(name, func(t *testing.T) {
			one := newTool(t, name, settings{url: newCluster(t, 200, file(t, answers[name])).base})
			if one.Info().Effect != tool.ReadEffect || one.Info().Name != name {
				t.Errorf("info %+v", one.Info())
			}
			enginetest.ToolSuite(t, one, args)
		})
	}
}
