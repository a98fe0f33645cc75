package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
)

// models compares the LLMs, their users and their prices.
func (c *comparison) models() {
	c.pairs(c.llmsBefore().tree.Get("llms"), c.now.tree.Get("llms"), func(name string, a, b dsl.Entry) {
		path, from := "llms."+name, len(c.changes)
		switch {
		case !a.Value.Exists():
			c.add(entry(path, a, b, llm(b.Value)))
		case !b.Value.Exists():
			c.add(entry(path, a, b, llm(a.Value)))
		default:
			c.walk(path, a.Value, b.Value)
			c.compareOpened(path, a.Value, b.Value)
			c.price(path, name, b, from)
		}
		for i := range c.changes[from:] {
			c.changes[from+i].Users = c.users(name)
		}
		if a.Value.Exists() && b.Value.Exists() {
			c.used(path, name, b)
		}
	})
}

func llm(v dsl.Value) string {
	return strings.TrimSpace(v.Get("provider").Text() + " " + v.Get("model").Text())
}

// price reports a changed price of an LLM that the spec does not set: its model
// or the price list changed.
func (c *comparison) price(path, name string, at dsl.Entry, from int) {
	before, after := priceOf(c.old.model(name)), priceOf(c.now.model(name))
	told := slices.ContainsFunc(c.changes[from:], func(x Change) bool { return strings.HasPrefix(x.Path, path+".cost") })
	if before == after || told || c.old.program == nil || c.now.program == nil {
		return
	}
	c.add(Change{
		Path: path + ".cost", Kind: Changed, Old: first(before, "unknown"), New: first(after, "unknown"),
		Note: "the built-in price of the model", At: placeOf(at.Place),
	})
}

func priceOf(m *engine.ModelSpec) string {
	if m == nil || m.Cost == nil {
		return ""
	}
	text := fmt.Sprintf("$%g in, $%g out", m.Cost.Input, m.Cost.Output)
	if m.Cost.CachedInput > 0 {
		text += fmt.Sprintf(", $%g cached", m.Cost.CachedInput)
	}
	return text + " per million tokens"
}

// used reports that the users of an LLM changed.
func (c *comparison) used(path, name string, at dsl.Entry) {
	before, after := c.old.users(name), c.now.users(name)
	if slices.Equal(before, after) || c.old.program == nil || c.now.program == nil {
		return
	}
	c.add(Change{
		Path: path, Kind: Changed, Old: usedBy(before), New: usedBy(after), Note: "its uses", At: placeOf(at.Place),
	})
}

func usedBy(users []string) string {
	if len(users) == 0 {
		return "unused"
	}
	return "used by " + strings.Join(users, ", ")
}

// users returns the users of an LLM, or its old users if it was removed.
func (c *comparison) users(name string) []string {
	if out := c.now.users(name); len(out) > 0 || c.now.model(name) != nil {
		return out
	}
	return c.old.users(name)
}

// users returns the nodes and tools that call an LLM, and the LLMs that fall back
// to it, sorted. A role's overrides form an LLM of their own, named after the
// role.
func (s *side) users(name string) []string {
	var out []string
	add := func(user string) {
		if !slices.Contains(out, user) {
			out = append(out, user)
		}
	}
	for _, p := range s.estimate.Parts {
		base, _, _ := strings.Cut(p.LLM, "+")
		switch {
		case base != name || p.Agent != "":
		case p.Tool != "":
			add("tools." + p.Tool)
		default:
			add(p.Node)
		}
	}
	if s.program != nil {
		for _, m := range s.program.Models {
			if base, _, _ := strings.Cut(m.Name, "+"); slices.Contains(m.Fallback, name) {
				add("llms." + base)
			}
		}
	}
	slices.Sort(out)
	return out
}
