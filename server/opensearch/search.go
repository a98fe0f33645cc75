package opensearch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/server/problem"
)

// hit is a document that a search can find.
type hit struct {
	id     string
	source object
}

// maxHits is the largest size of a page of a search.
const maxHits = 10_000

// search returns the hits that a request asks for, in the form of OpenSearch.
func (c *call) search(index string, all []hit) (any, error) {
	size, from := 10, 0
	for name, to := range map[string]*int{"size": &size, "from": &from} {
		if v, ok := c.body[name]; ok {
			n, isNumber := v.(float64)
			if !isNumber || n != float64(int(n)) || n < 0 || n > maxHits {
				return nil, problem.New(problem.InvalidRequest, "%s must be a number between 0 and %d", name, maxHits)
			}
			*to = int(n)
		}
	}
	query, ok := c.body["query"]
	if !ok {
		query = object{"match_all": object{}}
	}
	found := []object{}
	for _, h := range all {
		matches, err := matchesQuery(query, h)
		if err != nil {
			return nil, err
		}
		if matches {
			found = append(found, object{"_index": index, "_id": h.id, "_version": 1, "_seq_no": 0, "_primary_term": 1, "_score": 1.0, "_source": h.source})
		}
	}
	page := found[min(from, len(found)):]
	return object{
		"took": 0, "timed_out": false, "_shards": object{"total": 1, "successful": 1, "skipped": 0, "failed": 0},
		"hits": object{"total": object{"value": len(found), "relation": "eq"}, "max_score": 1.0, "hits": page[:min(size, len(page))]},
	}, nil
}

// only returns the only member of an object.
func only(v any) (name string, value any, ok bool) {
	m, isObject := v.(object)
	for name, value := range m {
		return name, value, isObject && len(m) == 1
	}
	return "", nil, false
}

// matchesQuery reports whether a document matches match_all, term, match, or a bool of these.
func matchesQuery(query any, h hit) (bool, error) {
	name, value, ok := only(query)
	switch {
	case !ok:
		return false, problem.New(problem.InvalidRequest, "query must be an object with one member: match_all, term, match or bool")
	case name == "match_all":
		return true, nil
	case name == "bool":
		return matchesBool(value, h)
	case name != "term" && name != "match":
		return false, problem.New(problem.InvalidRequest, "this server does not support the query %q; use match_all, term, match or bool", name)
	}
	field, want, ok := only(value)
	if !ok {
		return false, problem.New(problem.InvalidRequest, "query %s must name one field", name)
	}
	if m, isObject := want.(object); isObject {
		if want = m["value"]; name == "match" {
			want = m["query"]
		}
	}
	got := fieldOf(h, strings.Split(strings.TrimSuffix(field, ".keyword"), "."))
	return slices.ContainsFunc(got, func(s string) bool {
		if name == "term" {
			return s == fmt.Sprint(want)
		}
		words := strings.Fields(strings.ToLower(s))
		return slices.ContainsFunc(strings.Fields(strings.ToLower(fmt.Sprint(want))), func(word string) bool { return slices.Contains(words, word) })
	}), nil
}

func matchesBool(value any, h hit) (bool, error) {
	clauses, ok := value.(object)
	if !ok {
		return false, problem.New(problem.InvalidRequest, "query bool must be an object")
	}
	should, isAny := false, false
	for name, clause := range clauses {
		if !slices.Contains([]string{"must", "filter", "should", "must_not"}, name) {
			return false, problem.New(problem.InvalidRequest, "this server does not support %q in bool; use must, filter, should or must_not", name)
		}
		all, isList := clause.([]any)
		if !isList {
			all = []any{clause}
		}
		for _, query := range all {
			matches, err := matchesQuery(query, h)
			switch {
			case err != nil:
				return false, err
			case name == "should":
				should, isAny = true, isAny || matches
			case matches == (name == "must_not"):
				return false, nil
			}
		}
	}
	_, must := clauses["must"]
	_, filter := clauses["filter"]
	return !should || isAny || must || filter, nil
}

// fieldOf returns the values of a field as texts.
func fieldOf(h hit, path []string) []string {
	if len(path) == 1 && path[0] == "_id" {
		return []string{h.id}
	}
	return textsAt(h.source, path)
}

func textsAt(v any, path []string) (out []string) {
	switch v := v.(type) {
	case object:
		if len(path) > 0 {
			return textsAt(v[path[0]], path[1:])
		}
		return nil
	case []any:
		for _, each := range v {
			out = append(out, textsAt(each, path)...)
		}
		return out
	case nil:
		return nil
	}
	if len(path) > 0 {
		return nil
	}
	return []string{fmt.Sprint(v)}
}
