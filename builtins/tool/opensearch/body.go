package opensearch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/engine/jsonvalue"
)

const (
	maxBody  = 1 << 20 // bytes of a query
	maxDepth = 64      // objects and lists in one another
	pageSize = 10      // hits, where nobody says: OpenSearch's own default
)

// parts are what may stand at the top of a search; what runs code is not among
// them, nor what leads away from the index (pit, slice, a pipeline).
var parts = []string{
	"_source", "aggregations", "aggs", "collapse", "docvalue_fields", "explain", "fields", "from", "highlight", "indices_boost", "min_score",
	"post_filter", "profile", "query", "rescore", "search_after", "seq_no_primary_term", "size", "sort", "stats", "stored_fields", "suggest",
	"terminate_after", "timeout", "track_scores", "track_total_hits", "version",
}

// coded are the parts that hold scripts.
var coded = []string{"derived", "runtime_mappings", "script_fields"}

// body is the search that is sent: the model's, read, checked, and written
// anew. size is the argument of that name, 0 = none.
func (t *searchTool) body(query json.RawMessage, size int) ([]byte, error) {
	if len(query) > maxBody {
		return nil, errors.New(`argument "query" is longer than any query needs to be`)
	}
	search, err := t.parsed(query)
	if err != nil {
		return nil, err
	}
	if err := t.check(search, "", 0); err != nil {
		return nil, err
	}
	if search["size"], err = t.size(search["size"], size); err != nil {
		return nil, err
	}
	return jsonvalue.Marshal(search)
}

// parsed is a query as a whole search: an object, also as text; a clause alone;
// or words.
func (t *searchTool) parsed(query json.RawMessage) (map[string]any, error) {
	var text string
	if json.Unmarshal(query, &text) == nil {
		if text = strings.TrimSpace(text); !strings.HasPrefix(text, "{") {
			return words(text)
		}
		query = json.RawMessage(text)
	}
	var v any
	if err := jsontemplate.Decode(bytes.TrimSpace(query), &v); err != nil {
		return nil, fmt.Errorf(`argument "query" is no JSON: %w`, err)
	}
	search, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New(`argument "query" must be an object, such as {"query": {"match": {"message": "timeout"}}}`)
	}
	known := parts
	if t.scripts {
		known = slices.Concat(parts, coded)
	}
	for _, name := range slices.Sorted(maps.Keys(search)) {
		switch {
		case slices.Contains(known, name):
		case slices.Contains(coded, name):
			return nil, errScript(name)
		case len(search) == 1:
			return map[string]any{"query": search}, nil
		default:
			return nil, fmt.Errorf("a search has no part %q here; the clause goes under query, and beside it there are %s", clip(name), strings.Join(parts, ", "))
		}
	}
	return search, nil
}

func words(text string) (map[string]any, error) {
	if text == "" {
		return nil, errors.New(`argument "query" is empty; {"query": {"match_all": {}}} gives everything`)
	}
	return map[string]any{"query": map[string]any{"simple_query_string": map[string]any{"query": text, "lenient": true}}}, nil
}

// size is how many hits are asked for: the argument goes before the query's own.
func (t *searchTool) size(own any, wanted int) (int, error) {
	if wanted < 0 {
		return 0, fmt.Errorf(`argument "size" must be positive, not %d`, wanted)
	}
	if wanted > 0 {
		return min(wanted, t.most), nil
	}
	if own == nil {
		return min(pageSize, t.most), nil
	}
	text := jsontemplate.Text(own)
	n, err := json.Number(strings.TrimSuffix(text, ".0")).Int64() // OpenSearch takes "5" and 5.0 too
	if err != nil || n < 0 {
		return 0, fmt.Errorf("size %s in the query is no whole number", clip(text))
	}
	return int(min(n, int64(t.most))), nil
}
