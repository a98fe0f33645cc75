package opensearch

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/engine/text"
)

// scriptKey matches keys with code: script, script_score, scripted_metric, init_script,
// minimum_should_match_script, ...
var scriptKey = text.Regexp(`(?i)(^|_)script(s|ed)?(_|$)`)

// alwaysScript matches those that always count as code, so that no context is needed to tell
// them from field names.
var alwaysScript = text.Regexp(`(?i)^(_script|script_(score|fields|sort)|scripted_metric|(init|map|combine|reduce|bucket|minimum_should_match)_script)$`)

// nameParents are the parts of a search whose keys are names of fields or aggregations, and
// which contain no scripts.
var nameParents = []string{
	"aggregations", "aggs", "fields", "fuzzy", "match", "match_bool_prefix", "match_phrase", "match_phrase_prefix", "prefix", "regexp", "sort",
	"span_term", "term", "wildcard",
}

// ambiguousKeys are keys that can be a clause with a field name, or an aggregation with a script.
var ambiguousKeys = []string{"range", "terms"}

// check rejects values that run code, hide a query, or read another index. at is the key
// of the value.
func (t *searchTool) check(v any, at string, depth int) error {
	if depth > maxDepth {
		return errors.New(`argument "query" is nested too deeply`)
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := t.check(item, at, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		if at == "indexed_shape" && indexName(v["index"]) == "" && !t.server.config.allows("shapes") {
			return errLookup("shapes") // OpenSearch's default index for shapes
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := t.checkKey(v, at, key); err != nil {
				return err
			}
			if err := t.check(v[key], key, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkKey checks one key of an object. at is the key of the object.
func (t *searchTool) checkKey(object map[string]any, at, key string) error {
	lookup := indexName(object[key])
	switch {
	case key == "wrapper":
		return errors.New(`"wrapper" is not allowed because it hides the query; write the query itself`)
	case key == "collate":
		return errors.New(`"collate" is not allowed; remove it`)
	case scriptKey().MatchString(key) && !isName(at, key) && !t.scripts:
		return errScript(key)
	case key != "index" && key != "_index" || lookup == "":
		return nil
	case len(object) == 1 && slices.Contains(nameParents, at): // a field of that name; a lookup has more keys
		return nil
	case checkName(lookup) != nil || !t.server.config.allows(lookup):
		return errLookup(lookup)
	}
	return nil
}

// isName reports whether a key that looks like code is the name of a field or an
// aggregation.
func isName(at, key string) bool {
	if alwaysScript().MatchString(key) {
		return false
	}
	return slices.Contains(nameParents, at) || slices.Contains(ambiguousKeys, at) && !strings.EqualFold(key, "script")
}

// indexName returns the index name in a value, including values that a server would accept
// as a name, such as numbers; "" = none.
func indexName(v any) string {
	switch v.(type) {
	case nil, map[string]any, []any:
		return ""
	}
	return jsontemplate.Text(v)
}

func errScript(key string) error {
	return fmt.Errorf("%q would run a script, which is not allowed; use queries and aggregations without scripts", clip(key))
}

func errLookup(name string) error {
	return fmt.Errorf("the query reads index %q, which is not allowed", clip(name))
}
