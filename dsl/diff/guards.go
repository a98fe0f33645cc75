package diff

import (
	"fmt"
	"slices"

	"github.com/pexctl/pex/dsl"
)

// guards compares the guards by name. Their order matters, their indexes do not.
func (c *comparison) guards() {
	a, b := byName(c.old.tree.Get("guards")), byName(c.now.tree.Get("guards"))
	for _, e := range b {
		before := find(a, e.Key)
		if !before.Value.Exists() {
			x := entry("guards."+e.Key, before, e, rule(e.Value))
			if canStop(e.Value) {
				x.Effect = Safer
			}
			c.add(x)
			continue
		}
		c.walk("guards."+e.Key, before.Value, e.Value)
	}
	for _, e := range a {
		if !find(b, e.Key).Value.Exists() {
			x := entry("guards."+e.Key, e, dsl.Entry{}, rule(e.Value))
			if canStop(e.Value) {
				x.Effect, x.Note = Looser, "nothing stops a run there any more"
			}
			c.add(x)
		}
	}
	c.order("guards", "the order changed", names(a), names(b), c.now.tree.Get("guards"))
}

// canStop reports whether a guard can stop a run.
func canStop(rule dsl.Value) bool {
	return slices.Contains([]string{"stop", "fail", "interrupt", "deny"}, rule.Get("do").Text())
}

func rule(v dsl.Value) string {
	return brief(fmt.Sprintf("%s: %s when %s", v.Get("at").Text(), v.Get("do").Text(), v.Get("when").Text()))
}

// byName returns the items of a list by their names or ids.
func byName(v dsl.Value) []dsl.Entry {
	var out []dsl.Entry
	for _, it := range v.Items() {
		name := first(it.Get("name").Text(), it.Get("id").Text())
		out = append(out, dsl.Entry{Key: name, Place: it.Place(), Value: it})
	}
	return out
}

func find(all []dsl.Entry, name string) dsl.Entry {
	i := slices.IndexFunc(all, func(e dsl.Entry) bool { return e.Key == name })
	if i < 0 {
		return dsl.Entry{}
	}
	return all[i]
}

func names(all []dsl.Entry) []string {
	out := make([]string, len(all))
	for i, e := range all {
		out[i] = e.Key
	}
	return out
}

// order reports that common entries changed their order.
func (c *comparison) order(path, note string, before, now []string, at dsl.Value) {
	was := slices.DeleteFunc(slices.Clone(before), func(n string) bool { return !slices.Contains(now, n) })
	is := slices.DeleteFunc(slices.Clone(now), func(n string) bool { return !slices.Contains(before, n) })
	if !slices.Equal(was, is) {
		c.add(Change{Path: path, Kind: Reordered, Old: list(was), New: list(is), Note: note, At: placeOf(at.Place())})
	}
}
