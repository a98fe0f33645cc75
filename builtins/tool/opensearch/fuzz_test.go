package opensearch_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/tool"
)

// Whatever index a model names, only the mappings of indices that match logs- are
// requested.
func FuzzIndex(f *testing.F) {
	for _, seed := range append(append([]string{"logs-1", "logs-*"}, noIndex...), notOpen...) {
		f.Add(seed)
	}
	c := newCluster(f, 200, `{}`)
	tool := newTool(f, "opensearch_index_mapping", settings{url: c.base, indices: []string{"logs-*"}})
	f.Fuzz(func(t *testing.T, index string) {
		_, _ = call(t, tool, args{"index": index})
		for _, r := range c.take() {
			path, err := url.PathUnescape(r.Path)
			name, below := strings.CutPrefix(path, "/logs-")
			name, whole := strings.CutSuffix(name, "/_mapping")
			if err != nil || !below || !whole || strings.ContainsAny(name, "/,:<>%?#\\ ") || r.Method != "GET" || r.Query != "" {
				t.Errorf("%q asked %+v", index, r)
			}
		}
	})
}

// Whatever query a model writes, the request runs no code, hides nothing, and reads no
// other index.
func FuzzQuery(f *testing.F) {
	for _, seed := range hostile {
		if len(seed) < 10_000 {
			f.Add(seed)
		}
	}
	f.Add(`{"query":{"terms":{"a":{"index":"logs-2","id":"1"}}},"size":3}`)
	f.Add(`words AND "more words"`)
	c := newCluster(f, 200, `{}`)
	one := newTool(f, "opensearch_search", settings{url: c.base, indices: []string{"logs-*"}})
	f.Fuzz(func(t *testing.T, query string) {
		for _, raw := range []string{query, quoted(query)} {
			_, _ = one.Call(t.Context(), &tool.Call{Args: json.RawMessage(`{"index":"logs-1","query":` + raw + `}`)})
		}
		for _, r := range c.take() {
			var body map[string]any
			if err := json.Unmarshal([]byte(r.Body), &body); err != nil || r.Method != "POST" || r.Path != "/logs-1/_search" {
				t.Fatalf("%q sent %+v: %v", query, r, err)
			}
			if size, ok := body["size"].(float64); !ok || size < 0 || size > 50 {
				t.Errorf("%q requests %v hits", query, body["size"])
			}
			harmless(t, body)
		}
	})
}

func quoted(s string) string {
	raw, _ := json.Marshal(s) // strings always marshal
	return string(raw)
}

func harmless(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			harmless(t, item)
		}
	case map[string]any:
		for key, inner := range v {
			name, isText := inner.(string)
			if key == "script" || key == "wrapper" || (key == "index" || key == "_index") && isText && !strings.HasPrefix(name, "logs-") {
				t.Errorf("sent %s: %v", key, inner)
			}
			harmless(t, inner)
		}
	}
}
