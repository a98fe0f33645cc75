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

// scripted are keys under which code stands: script, script_score,
// scripted_metric, init_script, minimum_should_match_script, ...
var scripted = text.Regexp(`(?i)(^|_)script(s|ed)?(_|$)`)

// codeOnly are those of them that are taken for code wherever they stand: no
// one has to read a query whole to know whether they name a field.
var codeOnly = text.Regexp(`(?i)^(_script|script_(score|fields|sort)|scripted_metric|(init|map|combine|reduce|bucket|minimum_should_match)_script)$`)

// naming are the parts of a search below which keys are names of fields or of
// aggregations, and below which no script stands.
var naming = []string{
	"aggregations", "aggs", "fields", "fuzzy", "match", "match_bool_prefix", "match_phrase", "match_phrase_prefix", "prefix", "regexp", "sort",
	"span_term", "term", "wildcard",
}

// both are a clause with the name of a field, and an aggregation that may have
// a script.
var both = []string{"range", "terms"}

// check refuses what runs code, hides a query, or reads another index. at is
// the key that the value stands under.
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
		if at == "indexed_shape" && nameIn(v["index"]) == "" && !t.server.config.opens("shapes") {
			return errLookup("shapes") // where OpenSearch looks when nothing is named
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

// checkKey looks at one key of an object that stands under at.
func (t *searchTool) checkKey(object map[string]any, at, key string) error {
	lookup := nameIn(object[key])
	switch {
	case key == "wrapper":
		return errors.New(`"wrapper" hides a query from those who check it; write the query itself`)
	case key == "collate":
		return errors.New(`"collate" is not allowed here; leave it out`)
	case scripted().MatchString(key) && !namesField(at, key) && !t.scripts:
		return errScript(key)
	case key != "index" && key != "_index" || lookup == "":
		return nil
	case len(object) == 1 && slices.Contains(naming, at): // a field of that name; to look up takes more keys
		return nil
	case plain(lookup) != nil || !t.server.config.opens(lookup):
		return errLookup(lookup)
	}
	return nil
}

// namesField says whether a key that reads like code is a name that someone
// gave to a field or to an aggregation.
func namesField(at, key string) bool {
	if codeOnly().MatchString(key) {
		return false
	}
	return slices.Contains(naming, at) || slices.Contains(both, at) && !strings.EqualFold(key, "script")
}

// nameIn is the name of an index that a value is, also one that a server would
// take for a name, such as a number; "" = none.
func nameIn(v any) string {
	switch v.(type) {
	case nil, map[string]any, []any:
		return ""
	}
	return jsontemplate.Text(v)
}

func errScript(key string) error {
	return fmt.Errorf("%q would run a script, which is not allowed here; say it with queries and aggregations that need none", clip(key))
}

func errLookup(name string) error {
	return fmt.Errorf("the query reads index %q, which may not be used here", clip(name))
}
