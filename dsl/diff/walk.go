package diff

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
)

// walk compares two values recursively, down to values that are not mappings, and
// adds a change for each difference.
func (c *comparison) walk(path string, a, b dsl.Value) {
	switch {
	case !a.Exists() && !b.Exists() || isPrompt(path): // prompts are compared separately
	case called(a) != "" || called(b) != "":
		c.recordCall(path, a, b)
	case a.IsMapping() && (b.IsMapping() || empty(b)), b.IsMapping() && empty(a):
		for _, key := range keysOf(a, b) {
			c.walk(path+"."+key, a.Get(key), b.Get(key))
		}
	case c.equivalent(path, a, b):
	case plainList(a) && plainList(b):
		c.list(path, a, b)
	case mappings(a) && mappings(b):
		c.entries(path, a, b)
	default:
		c.leaf(path, a, b)
	}
}

// keysOf returns the keys of two mappings, those of the second first.
func keysOf(a, b dsl.Value) []string {
	var out []string
	for _, v := range []dsl.Value{b, a} {
		for _, e := range v.Entries() {
			if !slices.Contains(out, e.Key) {
				out = append(out, e.Key)
			}
		}
	}
	return out
}

// leaf adds the change of a whole value. Long values get a diff.
func (c *comparison) leaf(path string, a, b dsl.Value) {
	x := c.placed(path, a, b)
	before, after := c.text(c.old, path, a), c.text(c.now, path, b)
	if long(before) || long(after) {
		if whole := mappings(a) && empty(b) || empty(a) && mappings(b); !whole { // an added or removed list of mappings needs no diff
			x.Before, x.After = sentences(before), sentences(after)
		}
		x.Old, x.New = size(before, a), size(after, b)
	} else {
		x.Old, x.New = before, after
	}
	c.add(x)
}

// text returns a value for humans, or its default if there is none.
func (c *comparison) text(s *side, path string, v dsl.Value) string {
	if !v.Exists() {
		return s.defaults[path]
	}
	return displayValue(v)
}

// placed returns a change of a value with its places. A value with a default is
// never added or removed, only changed.
func (c *comparison) placed(path string, a, b dsl.Value) Change {
	x := Change{Path: path, Kind: Changed, At: placeOf(b.Place())}
	switch {
	case !b.Exists():
		x.OldAt = placeOf(a.Place())
		if c.now.defaults[path] == "" {
			x.Kind = Removed
		}
	case !a.Exists() && c.old.defaults[path] == "":
		x.Kind = Added
	}
	return x
}

// list adds the change of a list of scalars: added and removed items, or the
// order.
func (c *comparison) list(path string, a, b dsl.Value) {
	was, is := texts(a), texts(b)
	gone, come := without(was, is), without(is, was)
	if repeats(was) || repeats(is) {
		c.leaf(path, a, b)
		return
	}
	x := c.placed(path, a, b)
	if len(gone)+len(come) == 0 {
		x.Kind = Reordered
	}
	x.Old, x.New = brief(list(was)), brief(list(is))
	if len(x.Old)+len(x.New) > wide {
		x.Note = joinNotes(plus("+", come), plus("-", gone))
	}
	c.add(x)
}

// pairs calls look for the entries of two sections: those of the new one in
// order, then the removed ones.
func (c *comparison) pairs(a, b dsl.Value, look func(name string, a, b dsl.Entry)) {
	find := func(v dsl.Value, name string) dsl.Entry {
		for _, e := range v.Entries() {
			if e.Key == name {
				return e
			}
		}
		return dsl.Entry{}
	}
	for _, name := range keysOf(a, b) {
		look(name, find(a, name), find(b, name))
	}
}

// entry returns the change for an added or removed entry.
func entry(path string, a, b dsl.Entry, about string) Change {
	if b.Value.Exists() {
		return Change{Path: path, Kind: Added, New: about, At: placeOf(b.Place)}
	}
	return Change{Path: path, Kind: Removed, Old: about, OldAt: placeOf(a.Place)}
}

func plus(sign string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return sign + " " + strings.Join(names, ", ")
}
