package diff

import (
	"bytes"
	"slices"

	"github.com/pexctl/pex/dsl"
)

// mappings reports whether a value is a non-empty list of mappings.
func mappings(v dsl.Value) bool {
	items := v.Items()
	return len(items) > 0 && !slices.ContainsFunc(items, func(it dsl.Value) bool { return !it.IsMapping() || called(it) != "" })
}

// entries compares two lists of mappings entry by entry. Entries with names are
// paired by name, others by similarity, in order.
func (c *comparison) entries(path string, a, b dsl.Value) {
	was, is := byName(a), byName(b)
	if !named(was) || !named(is) {
		c.aligned(path, a.Items(), b.Items())
		return
	}
	for _, e := range is {
		if before := find(was, e.Key); before.Value.Exists() {
			c.walk(path+"."+e.Key, before.Value, e.Value)
			continue
		}
		c.add(entry(path+"."+e.Key, dsl.Entry{}, e, brief(displayValue(e.Value))))
	}
	for _, e := range was {
		if !find(is, e.Key).Value.Exists() {
			c.add(entry(path+"."+e.Key, e, dsl.Entry{}, brief(displayValue(e.Value))))
		}
	}
	c.order(path, "the order changed", names(was), names(is), b)
}

// named reports whether each entry has a unique name.
func named(all []dsl.Entry) bool {
	return !slices.Contains(names(all), "") && !repeats(names(all))
}

// aligned compares lists whose entries have no names. An entry removed in one
// place and added unchanged in another was moved.
func (c *comparison) aligned(path string, a, b []dsl.Value) {
	gone, come := []int{}, []int{}
	for _, p := range align(a, b) {
		switch {
		case p.now < 0:
			gone = append(gone, p.old)
		case p.old < 0:
			come = append(come, p.now)
		default:
			c.walk(at(path, p.now), a[p.old], b[p.now])
		}
	}
	for _, j := range come {
		i := slices.IndexFunc(gone, func(i int) bool { return bytes.Equal(canonical(a[i]), canonical(b[j])) })
		if i < 0 {
			c.add(entry(at(path, j), dsl.Entry{}, listed(b[j]), brief(displayValue(b[j]))))
			continue
		}
		c.add(Change{Path: at(path, j), Kind: Reordered, Old: "place " + number(gone[i]+1), New: "place " + number(j+1), Note: "moved: " + brief(displayValue(b[j])), At: placeOf(b[j].Place())})
		gone = slices.Delete(gone, i, i+1)
	}
	for _, i := range gone {
		c.add(entry(at(path, i), listed(a[i]), dsl.Entry{}, brief(displayValue(a[i]))))
	}
}

func at(path string, i int) string { return path + "[" + number(i) + "]" }

func listed(v dsl.Value) dsl.Entry { return dsl.Entry{Place: v.Place(), Value: v} }
