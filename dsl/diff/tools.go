package diff

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/tool"
)

// tools compares the tools that a run may call.
func (c *comparison) tools() {
	c.pairs(c.old.tree.Get("tools"), c.now.tree.Get("tools"), func(name string, a, b dsl.Entry) {
		path := "tools." + name
		was, is := c.old.tool(name), c.now.tool(name)
		switch {
		case !a.Value.Exists() && !c.now.callable(name), !b.Value.Exists() && !c.old.callable(name):
			c.recordCalls(path, a.Value, b.Value) // for other agents, which are compared themselves
		case !a.Value.Exists() || b.Value.Exists() && writesUnapproved(is) && !c.old.callable(name) && c.now.callable(name):
			x := entry(path, a, b, about(name, b.Value, is))
			if writesUnapproved(is) {
				x.Effect, x.Note = Looser, "it writes, and its calls need no approval"
			}
			c.add(x)
			c.recordCalls(path, a.Value, b.Value)
		case !b.Value.Exists():
			c.add(entry(path, a, b, about(name, a.Value, was)))
			c.recordCalls(path, a.Value, b.Value)
		default:
			c.tool(path, a, b, was, is)
			c.compareOpened(path, a.Value, b.Value)
		}
	})
}

// about describes a tool: write http, approval always.
func about(name string, v dsl.Value, t *tool.Spec) string {
	text := first(v.Get("use").Text(), v.Get("type").Text(), name)
	if t == nil {
		return text
	}
	if t.Effect != "" {
		text += ", " + string(t.Effect)
	}
	if approval := approvalOf(t); approval != "never" {
		text += ", approval " + brief(approval)
	}
	return text
}

func approvalOf(t *tool.Spec) string { return first(t.Approval.Source, "never") }

// writesUnapproved reports whether a tool writes without approval.
func writesUnapproved(t *tool.Spec) bool {
	return t != nil && t.Effect == tool.WriteEffect && approvalOf(t) == "never"
}

// tool compares a tool with its old version. It compares the resulting effect and
// approval, not their notation.
func (c *comparison) tool(path string, a, b dsl.Entry, was, is *tool.Spec) {
	for _, key := range keysOf(a.Value, b.Value) {
		if was == nil || is == nil || key != "effect" && key != "approval" && key != "on_unknown" {
			c.setting(path, key, a.Value.Get(key), b.Value.Get(key))
		}
	}
	if was == nil || is == nil {
		return
	}
	if was.Effect != is.Effect {
		x := c.settingChange(path+".effect", string(was.Effect), string(is.Effect), b, "effect")
		x.Effect = trustEffect(was.Effect, is.Effect)
		if writesUnapproved(is) && !writesUnapproved(was) {
			x.Effect, x.Note = Looser, "it now writes, and its calls need no approval"
		}
		c.add(x)
	}
	if before, after := approvalOf(was), approvalOf(is); before != after {
		x := c.settingChange(path+".approval", before, after, b, "approval")
		switch x.Effect = approvalEffect(before, after); {
		case x.Effect == Looser && writesUnapproved(is):
			x.Note = "it writes, and its calls no longer need approval"
		case x.Effect == Looser:
			x.Note = "fewer of its calls need human approval"
		case x.Effect == Safer:
			x.Note = "more of its calls need human approval"
		}
		c.add(x)
	}
	c.reviewing(path, was, is, b)
}

// reviewing compares what happens to writes with an unknown outcome.
func (c *comparison) reviewing(path string, was, is *tool.Spec, b dsl.Entry) {
	before, after := first(string(was.OnUnknown), string(tool.ReviewUnknown)), first(string(is.OnUnknown), string(tool.ReviewUnknown))
	if before == after {
		return
	}
	x := c.settingChange(path+".on_unknown", before, after, b, "on_unknown")
	x.Effect, x.Note = Safer, "a write with an unknown outcome waits for a human"
	if after == string(tool.ContinueUnknown) {
		x.Effect, x.Note = Looser, "a write with an unknown outcome no longer waits for a human"
	}
	c.add(x)
}

// settingChange returns the change of a tool's effective setting, written or
// default.
func (c *comparison) settingChange(path, before, after string, b dsl.Entry, key string) Change {
	at := b.Value.Get(key).Place()
	if at.File == "" {
		at = b.Place
	}
	return Change{Path: path, Kind: Changed, Old: first(before, "the default"), New: first(after, "the default"), At: placeOf(at)}
}

// trustEffect reports whether a tool is trusted more than before: a tool declared as
// reading is retried and runs without approval.
func trustEffect(before, after tool.Effect) Effect {
	rank := map[tool.Effect]int{tool.ReadEffect: 1, tool.IdempotentEffect: 2, tool.WriteEffect: 3}
	switch {
	case rank[before] == 0 || rank[after] == 0:
		return ""
	case rank[after] < rank[before]:
		return Looser
	}
	return Safer
}

// setting compares one key of a tool, and explains the effect if it is known.
func (c *comparison) setting(path, key string, a, b dsl.Value) {
	from := len(c.changes)
	switch key {
	case "input_schema":
		shape{c, path, ""}.schema(path+".input_schema", a, b)
	default:
		c.walk(path+"."+key, a, b)
	}
	for i := range c.changes[from:] {
		c.meaning(&c.changes[from+i], key, a, b)
	}
}

func (c *comparison) meaning(x *Change, key string, a, b dsl.Value) {
	switch key {
	case "include":
		x.Effect = listEffect(a, b, true)
	case "exclude":
		x.Effect = listEffect(b, a, false)
	case "with":
		switch x.Kind {
		case Removed:
			x.Effect, x.Note = Looser, "the model now chooses that argument"
		case Added:
			x.Effect, x.Note = Safer, "the model no longer chooses that argument"
		default:
			x.Note = "fixed by the author"
		}
	case "root", "cwd":
		x.Note = "it works in another directory"
	case "overrides":
		if strings.HasSuffix(x.Path, ".approval") {
			x.Effect = approvalEffect(first(x.Old, "never"), first(x.New, "never"))
		}
	}
}

// accessOf returns what calls of a tool start and connect to, or its type if it
// does not declare it.
func accessOf(t *tool.Spec) []string {
	if r, ok := t.Config.(tool.AccessDescriber); ok {
		return r.Access()
	}
	return []string{fmt.Sprintf("starts or connects to what the type %s needs", t.Type)}
}
