package prompt

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
)

// reference is one ${ns.name|filter:-default}.
type reference struct {
	ns         string
	name       string
	places     []place // where the value may be; the exact name first
	filters    []filter
	hasDefault bool
	fallback   []part
	partial    *Template // of ${prompts.name}; nil for a value
}

// place is a name to look up and the path to follow from there.
type place struct {
	name string
	rest []key
}

// key is one step of a path: a field of an object, or an index of a list if field
// is "".
type key struct {
	field string
	index int
}

// value returns the reference's value, or nil if unset. The longest existing name
// wins, so an exact dotted name wins over a path.
func (r *reference) value(lookup component.Lookup) any {
	if r.partial != nil {
		return r.partial.Render(lookup)
	}
	for i := range r.places {
		if v, ok := lookup(r.ns, r.places[i].name); ok {
			return descend(v, r.places[i].rest)
		}
	}
	return nil
}

func (r *reference) render(t *Template, out []string, lookup component.Lookup) []string {
	return r.fill(t, out, r.value(lookup), lookup)
}

// fill appends the text of a value, or of the default if it is nil.
func (r *reference) fill(t *Template, out []string, v any, lookup component.Lookup) []string {
	if v == nil {
		return t.render(out, r.fallback, lookup)
	}
	if len(r.filters) > 0 {
		v = t.filtered(v, r.filters)
	}
	if s, ok := segments(v); ok {
		return append(out, s...)
	}
	if s := rendered(v); s != "" {
		out = append(out, s)
	}
	return out
}

func descend(v any, path []key) any {
	for _, k := range path {
		switch c := v.(type) {
		case map[string]any:
			if k.field == "" {
				return nil
			}
			v = c[k.field]
		case []any:
			if k.field != "" || k.index >= len(c) {
				return nil
			}
			v = c[k.index]
		default:
			return nil
		}
	}
	return v
}

// maxPath is the maximum number of parts of a name.
const maxPath = 32

// split returns the normal form of a name and the places where its value may be.
// Parts are trimmed; ok is false if a part is empty or an index is not a number.
func split(written string) (name string, places []place, ok bool) {
	var keys []key
	var ends []int // end of each key in the normal form
	var b strings.Builder
	for i, p := range strings.Split(written, ".") {
		field, indexes, ok := indexed(strings.TrimSpace(p))
		if !ok {
			return "", nil, false
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(field)
		keys, ends = append(keys, key{field: field}), append(ends, b.Len())
		for _, n := range indexes {
			b.WriteString("[" + strconv.Itoa(n) + "]")
			keys, ends = append(keys, key{index: n}), append(ends, b.Len())
		}
	}
	if len(keys) > maxPath {
		return "", nil, false
	}
	name = b.String()
	for i, end := range slices.Backward(ends) {
		places = append(places, place{name: name[:end], rest: keys[i+1:]})
	}
	return name, places, true
}

// indexed splits "hits[0][1]" into its field and indexes.
func indexed(p string) (field string, indexes []int, ok bool) {
	field, rest, more := strings.Cut(p, "[")
	for more {
		var digits string
		digits, rest, ok = strings.Cut(rest, "]")
		n, err := strconv.Atoi(strings.TrimSpace(digits))
		if !ok || err != nil || n < 0 || n > 1<<20 {
			return "", nil, false
		}
		indexes = append(indexes, n)
		if more = rest != ""; more && rest[0] != '[' {
			return "", nil, false
		}
		rest = strings.TrimPrefix(rest, "[")
	}
	field = strings.TrimSpace(field)
	return field, indexes, field != ""
}
