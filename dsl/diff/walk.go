package diff

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
)

// walk holds two values against each other, down to what is no mapping, and adds
// a change for each difference.
func (c *comparison) walk(path string, a, b dsl.Value) {
	switch {
	case !a.Exists() && !b.Exists() || isPrompt(path): // prompts are looked at by themselves
	case called(a) != "" || called(b) != "":
		c.meet(path, a, b)
	case a.IsMapping() && (b.IsMapping() || empty(b)), b.IsMapping() && empty(a):
		for _, key := range keysOf(a, b) {
			c.walk(path+"."+key, a.Get(key), b.Get(key))
		}
	case c.alike(path, a, b):
	case plainList(a) && plainList(b):
		c.list(path, a, b)
	case mappings(a) && mappings(b):
		c.entries(path, a, b)
	default:
		c.leaf(path, a, b)
	}
}

// keysOf are the keys of two mappings, those of the second first.
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

// leaf adds the change of a value as a whole. Long ones get a diff.
func (c *comparison) leaf(path string, a, b dsl.Value) {
	x := c.placed(path, a, b)
	before, after := c.text(c.old, path, a), c.text(c.now, path, b)
	if long(before) || long(after) {
		if whole := mappings(a) && empty(b) || empty(a) && mappings(b); !whole { // nobody reads a list that is gone
			x.Before, x.After = sentences(before), sentences(after)
		}
		x.Old, x.New = size(before, a), size(after, b)
	} else {
		x.Old, x.New = before, after
	}
	c.add(x)
}

// text is a value for people; where there is none, its default.
func (c *comparison) text(s *side, path string, v dsl.Value) string {
	if !v.Exists() {
		return s.defaults[path]
	}
	return shown(v)
}

// placed is a change of a value with its places. What has a default is never
// added nor removed.
func (c *comparison) placed(path string, a, b dsl.Value) Change {
	x := Change{Path: path, What: Changed, At: placeOf(b.Place())}
	switch {
	case !b.Exists():
		x.Was = placeOf(a.Place())
		if c.now.defaults[path] == "" {
			x.What = Removed
		}
	case !a.Exists() && c.old.defaults[path] == "":
		x.What = Added
	}
	return x
}

// list is the change of a list of scalars: what came and went, or the order.
func (c *comparison) list(path string, a, b dsl.Value) {
	was, is := texts(a), texts(b)
	gone, come := without(was, is), without(is, was)
	if repeats(was) || repeats(is) {
		c.leaf(path, a, b)
		return
	}
	x := c.placed(path, a, b)
	if len(gone)+len(come) == 0 {
		x.What = Reordered
	}
	x.Old, x.New = brief(list(was)), brief(list(is))
	if len(x.Old)+len(x.New) > wide {
		x.Note = joined(plus("+", come), plus("-", gone))
	}
	c.add(x)
}

// pairs goes over two sections of named entries: those of the new one as it has
// them, then those that are gone.
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

// entry is the change of an entry that is new or gone.
func entry(path string, a, b dsl.Entry, about string) Change {
	if b.Value.Exists() {
		return Change{Path: path, What: Added, New: about, At: placeOf(b.Place)}
	}
	return Change{Path: path, What: Removed, Old: about, Was: placeOf(a.Place)}
}

func plus(sign string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return sign + " " + strings.Join(names, ", ")
}
