package diff

import (
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/costbound"
)

// Options of Compare.
type Options struct {
	// Unified makes the diff of two long texts; nil = none is wanted.
	Unified func(before, after string) string
	// Context is how many tokens fit into a request, as far as that is known.
	Context int
}

// Compare says how a spec differs from an earlier one. Both have been loaded
// without an error; nil = there was none, or there is none any more. Both being
// nil is no difference.
func Compare(before, now *dsl.Spec, o Options) Report {
	c := newComparison(before, now, o)
	return c.report()
}

// comparison is the state of comparing two specs.
type comparison struct {
	options  Options
	old, now *side
	changes  []Change // of the section that is looked at
	calls    []call   // agents that were met on the way
	unread   []Unread // folders that tools work in
	within   bool     // an agent within: those of its file are looked at there
	lender   *side    // the file that a new agent of it shares llms with, as it was; nil = none
}

// call is where agents are called: the names that they have on both sides.
type call struct{ path, old, now string }

func newComparison(before, now *dsl.Spec, o Options) *comparison {
	most := costbound.Options{Context: o.Context}
	return &comparison{options: o, old: newSide(before, most), now: newSide(now, most)}
}

// section is a part of a spec, and how it is looked at.
type section struct {
	name, title string
	look        func(*comparison)
}

var sections = []section{
	{"agent", "Agent", (*comparison).agent},
	{"inputs", "Inputs", (*comparison).inputs},
	{"models", "Models", (*comparison).models},
	{"tools", "Tools", (*comparison).tools},
	{"reach", "Access", (*comparison).reach},
	{"prompts", "Prompts", (*comparison).prompts},
	{"roles", "Roles", (*comparison).roles},
	{"graph", "Graph", (*comparison).graph},
	{"limits", "Limits", (*comparison).limits},
	{"guards", "Guards", (*comparison).guards},
	{"output", "Output", (*comparison).output},
	{"memory", "Memory", (*comparison).memory},
}

func (c *comparison) report() Report {
	r := Report{Sections: []Section{}, Agents: []Agent{}}
	for _, s := range sections {
		c.changes = nil
		s.look(c)
		if len(c.changes) > 0 {
			r.Sections = append(r.Sections, Section{s.name, s.title, c.changes})
		}
	}
	r.Unread = c.unread
	c.agents(&r)
	if !c.within {
		r.Worst = c.worst()
	}
	r.Same = len(r.Sections) == 0 && len(r.Agents) == 0 && r.Worst == nil
	return r
}

// add takes a change over. Of a spec that is new or gone nothing became safer
// or breaks; what it may do is worth a look all the same.
func (c *comparison) add(x Change) {
	if c.whole() && (x.Effect != Looser || c.now.spec == nil) {
		x.Effect = ""
	}
	if x.Diff == "" && x.Before != x.After && c.options.Unified != nil {
		x.Diff = c.options.Unified(ended(x.Before), ended(x.After))
	}
	c.changes = append(c.changes, x)
}

// whole says that one of the two is no spec: all of the other is new, or gone.
func (c *comparison) whole() bool { return c.old.spec == nil || c.now.spec == nil }

// llmsBefore are the llms that there were, for a new agent in a file those of the
// file.
func (c *comparison) llmsBefore() *side {
	if c.old.spec == nil && c.lender != nil {
		return c.lender
	}
	return c.old
}

// agent is what says who the agent is, and what is true of all its prompts.
func (c *comparison) agent() {
	if a, b := c.old.tree.Get("kind"), c.now.tree.Get("kind"); a.Exists() && b.Exists() {
		c.walk("kind", a, b)
	}
	for _, key := range []string{"metadata", "inject_datetime", "datetime_format"} {
		c.walk(key, c.old.tree.Get(key), c.now.tree.Get(key))
	}
}

// memory is how conversations are kept.
func (c *comparison) memory() {
	c.walk("memory", c.old.tree.Get("memory"), c.now.tree.Get("memory"))
}
