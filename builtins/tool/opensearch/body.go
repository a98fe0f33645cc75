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
	maxDepth = 64      // nesting depth of a query
	pageSize = 10      // default number of hits, as in OpenSearch
)

// parts are the permitted top-level keys of a search. Those that run code or read
// elsewhere (pit, slice, pipelines) are not included.
var parts = []string{
	"_source", "aggregations", "aggs", "collapse", "docvalue_fields", "explain", "fields", "from", "highlight", "indices_boost", "min_score",
	"post_filter", "profile", "query", "rescore", "search_after", "seq_no_primary_term", "size", "sort", "stats", "stored_fields", "suggest",
	"terminate_after", "timeout", "track_scores", "track_total_hits", "version",
}

// scriptParts are the top-level keys that contain scripts.
var scriptParts = []string{"derived", "runtime_mappings", "script_fields"}

// body returns the search to send: the model's query, parsed, checked and encoded again.
// size is the argument of that name, 0 = unset.
func (t *searchTool) body(query json.RawMessage, size int) ([]byte, error) {
	if len(query) > maxBody {
		return nil, errors.New(`argument "query" is too long`)
	}
	search, err := t.parse(query)
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

// parse converts a query into a search. The query may be a complete search (an object,
// or a string with one), a single clause, or plain words.
func (t *searchTool) parse(query json.RawMessage) (map[string]any, error) {
	var text string
	if json.Unmarshal(query, &text) == nil {
		if text = strings.TrimSpace(text); !strings.HasPrefix(text, "{") {
			return words(text)
		}
		query = json.RawMessage(text)
	}
	var v any
	if err := jsontemplate.Decode(bytes.TrimSpace(query), &v); err != nil {
		return nil, fmt.Errorf(`argument "query" is not valid JSON: %w`, err)
	}
	search, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New(`argument "query" must be an object, such as {"query": {"match": {"message": "timeout"}}}`)
	}
	known := parts
	if t.scripts {
		known = slices.Concat(parts, scriptParts)
	}
	for _, name := range slices.Sorted(maps.Keys(search)) {
		switch {
		case slices.Contains(known, name):
		case slices.Contains(scriptParts, name):
			return nil, errScript(name)
		case len(search) == 1:
			return map[string]any{"query": search}, nil
		default:
			return nil, fmt.Errorf("unknown key %q in the search; put clauses under query; other keys are %s", clip(name), strings.Join(parts, ", "))
		}
	}
	return search, nil
}

func words(text string) (map[string]any, error) {
	if text == "" {
		return nil, errors.New(`argument "query" is empty; {"query": {"match_all": {}}} matches everything`)
	}
	return map[string]any{"query": map[string]any{"simple_query_string": map[string]any{"query": text, "lenient": true}}}, nil
}

// size returns the number of hits to request. The argument takes precedence over the
// query.
func (t *searchTool) size(own any, wanted int) (int, error) {
	if wanted < 0 {
		return 0, fmt.Errorf(`argument "size" must be positive, not %d`, wanted)
	}
	if wanted > 0 {
		return min(wanted, t.maxHits), nil
	}
	if own == nil {
		return min(pageSize, t.maxHits), nil
	}
	text := jsontemplate.Text(own)
	n, err := json.Number(strings.TrimSuffix(text, ".0")).Int64() // OpenSearch accepts "5" and 5.0 too
	if err != nil || n < 0 {
		return 0, fmt.Errorf("size %s in the query is not an integer", clip(text))
	}
	return int(min(n, int64(t.maxHits))), nil
}
