package diff

import (
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/costbound"
)

// Options of Compare.
type Options struct {
	// Unified returns the diff of two long texts; nil for no diffs.
	Unified func(before, after string) string
	// Context is the context window in tokens, if known.
	Context int
}

// Compare returns the differences between a spec and an earlier version. Both
// were loaded without errors. A nil spec does not exist; two nil specs are equal.
func Compare(before, now *dsl.Spec, o Options) Report {
	c := newComparison(before, now, o)
	return c.report()
}

// comparison is the state of one comparison.
type comparison struct {
	options    Options
	old, now   *side
	changes    []Change        // of the current section
	calls      []call          // agents called so far
	skipped    []SkippedFolder // folders that tools use
	within     bool            // an agent within; agents of its file are compared there
	sharedWith *side           // for an added agent, the old version of the file whose LLMs it shares; otherwise nil
}

// call is a place that calls agents, with their names on both sides.
type call struct{ path, old, now string }

func newComparison(before, now *dsl.Spec, o Options) *comparison {
	most := costbound.Options{Context: o.Context}
	return &comparison{options: o, old: newSide(before, most), now: newSide(now, most)}
}

// section is a part of a spec and the function that compares it.
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
	r.Skipped = c.skipped
	c.agents(&r)
	if !c.within {
		r.WorstCase = c.worstCase()
	}
	r.Same = len(r.Sections) == 0 && len(r.Agents) == 0 && r.WorstCase == nil
	return r
}

// add adds a change. In an added or removed spec, nothing is safer or breaking,
// but what is looser still needs a review.
func (c *comparison) add(x Change) {
	approvers(&x)
	if c.oneSided() && (x.Effect != Looser || c.now.spec == nil) {
		x.Effect = ""
	}
	if x.Diff == "" && x.Before != x.After && c.options.Unified != nil {
		x.Diff = c.options.Unified(withLineEnd(x.Before), withLineEnd(x.After))
	}
	c.changes = append(c.changes, x)
}

// oneSided reports whether one of the specs does not exist: everything in the other
// is added or removed.
func (c *comparison) oneSided() bool { return c.old.spec == nil || c.now.spec == nil }

// llmsBefore returns the old LLMs; for an added agent of a file, those of the
// file.
func (c *comparison) llmsBefore() *side {
	if c.old.spec == nil && c.sharedWith != nil {
		return c.sharedWith
	}
	return c.old
}

// agent compares the name and description of the agent, and settings of all its
// prompts.
func (c *comparison) agent() {
	if a, b := c.old.tree.Get("kind"), c.now.tree.Get("kind"); a.Exists() && b.Exists() {
		c.walk("kind", a, b)
	}
	for _, key := range []string{"metadata", "inject_datetime", "datetime_format"} {
		c.walk(key, c.old.tree.Get(key), c.now.tree.Get(key))
	}
}

// memory compares how conversations are stored.
func (c *comparison) memory() {
	c.walk("memory", c.old.tree.Get("memory"), c.now.tree.Get("memory"))
}
