package diff

import "github.com/pexctl/pex/dsl"

// output compares the requirements for the final answer.
func (c *comparison) output() {
	a, b := c.old.tree.Get("output"), c.now.tree.Get("output")
	for _, key := range keysOf(a, b) {
		if key != "schema" {
			c.walk("output."+key, a.Get(key), b.Get(key))
		}
	}
	c.schema(a.Get("schema"), b.Get("schema"))
	for i, x := range c.changes {
		if x.Path == "output.ensures" {
			c.changes[i].Effect = conditionsEffect(a.Get("ensures"), b.Get("ensures"))
		}
	}
}

// schema compares the schemas of the answer. If one of them is a named prompt, it
// compares both as texts.
func (c *comparison) schema(a, b dsl.Value) {
	const path = "output.schema"
	switch {
	case !a.Exists() && !b.Exists():
		return
	case !a.Exists() || !b.Exists():
		c.leaf(path, a, b)
		if x := &c.changes[len(c.changes)-1]; x.Kind == Removed {
			x.Effect, x.Note = Breaking, "the answer is now free text"
		}
		return
	case (a.Get("use").IsText() || b.Get("use").IsText()) && c.old.program != nil && c.now.program != nil:
		before, after := c.old.program.Output.Schema.JSON, c.now.program.Output.Schema.JSON
		if x, y := indented(before), indented(after); x != y {
			change := c.placed(path, a, b)
			change.Before, change.After = x, y
			c.add(change)
		}
		return
	}
	shape{c, path, Breaking}.schema("output", a, b)
}

// conditionsEffect returns the effect of a change of output.ensures.
func conditionsEffect(a, b dsl.Value) Effect {
	removed, added := without(texts(a), texts(b)), without(texts(b), texts(a))
	switch {
	case len(removed) > 0 && len(added) == 0:
		return Looser
	case len(added) > 0 && len(removed) == 0:
		return Safer
	}
	return ""
}
