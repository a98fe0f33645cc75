package diff

import (
	"slices"

	"github.com/pexctl/pex/dsl"
)

// recordCall records a call of an agent. Calling it under another name is not a
// difference; only its behavior counts.
func (c *comparison) recordCall(path string, a, b dsl.Value) {
	x := call{path, called(a), called(b)}
	if x.old == "" && a.Exists() || x.now == "" && b.Exists() { // it was or is not an agent
		c.leafOf(path, a, b, first(x.old, displayValue(a)), first(x.now, displayValue(b)))
	}
	c.calls = append(c.calls, x)
}

func (c *comparison) leafOf(path string, a, b dsl.Value, before, after string) {
	x := c.placed(path, a, b)
	x.Old, x.New = brief(before), brief(after)
	c.add(x)
}

// recordCalls records the agents of an added or removed entry.
func (c *comparison) recordCalls(path string, a, b dsl.Value) {
	for _, v := range []dsl.Value{a, b} {
		for _, e := range v.Entries() {
			if called(e.Value) != "" {
				c.recordCall(path+"."+e.Key, a.Get(e.Key), b.Get(e.Key))
			}
		}
	}
}

// agents compares the agents that are called, each once, and the agents of the
// file that nothing calls.
func (c *comparison) agents(r *Report) {
	if !c.within {
		c.addUncalled()
	}
	var told []call
	for _, x := range c.calls {
		same := func(y call) bool { return x.old == y.old && x.now == y.now }
		if slices.ContainsFunc(told, same) || c.calledElsewhere(x) {
			continue
		}
		told = append(told, x)
		inner := newComparison(c.old.agent(x.old), c.now.agent(x.now), c.options)
		inner.within = true
		if s := inner.now.spec; s != nil && s.File == c.now.spec.File {
			inner.sharedWith = c.old
		}
		report := inner.report()
		for _, u := range report.Skipped {
			r.Skipped = append(r.Skipped, SkippedFolder{x.path + " > " + u.Path, u.Folder, u.Why})
		}
		report.Skipped = nil
		if r.removeShared(x.path, &report); !report.Same {
			r.Agents = append(r.Agents, Agent{x.path, report})
		}
	}
}

// calledElsewhere reports whether an agent that is added or removed here is still
// called by others.
func (c *comparison) calledElsewhere(x call) bool {
	return slices.ContainsFunc(c.calls, func(y call) bool {
		return x.old == "" && x.now == y.now && y.old != "" || x.now == "" && x.old == y.old && y.now != ""
	})
}

// addUncalled adds the agents of the file that nothing calls.
func (c *comparison) addUncalled() {
	a, b := c.old.tree.Get("agents"), c.now.tree.Get("agents")
	for _, name := range keysOf(a, b) {
		x := call{"agents." + name, c.old.ownAgent(name), c.now.ownAgent(name)}
		met := slices.ContainsFunc(c.calls, func(y call) bool {
			return x.old != "" && x.old == y.old || x.now != "" && x.now == y.now
		})
		if !met {
			c.calls = append(c.calls, x)
		}
	}
}

// ownAgent returns the key of an agent of the file, or "" if there is none.
func (s *side) ownAgent(name string) string {
	if s.spec == nil {
		return ""
	}
	for _, a := range s.spec.Agents() {
		if a.File == s.spec.File && a.Agent == name {
			return s.nameOf(a)
		}
	}
	return ""
}

// removeShared removes what is already reported from the report on an agent, because
// agents of a file share its LLMs and prompts. It adds the agents that it calls
// to the report.
func (r *Report) removeShared(path string, inner *Report) {
	left := []Section{}
	for _, s := range inner.Sections {
		s.Changes = slices.DeleteFunc(s.Changes, func(x Change) bool { return r.hasChange(path, x) })
		if len(s.Changes) > 0 {
			left = append(left, s)
		}
	}
	inner.Sections = left
	for i := range inner.Agents {
		a := &inner.Agents[i]
		r.removeShared(path+" > "+a.Path, &a.Report)
	}
	inner.Agents = slices.DeleteFunc(inner.Agents, func(a Agent) bool { return a.Report.Same })
	inner.Same = len(inner.Sections) == 0 && len(inner.Agents) == 0
}

// hasChange finds a change that was already reported, here or for an earlier agent.
func (r *Report) hasChange(path string, x Change) bool {
	for _, s := range r.Sections {
		for i := range s.Changes {
			if y := &s.Changes[i]; y.samePlace(x) {
				for _, who := range x.Users {
					y.Users = append(y.Users, path+" > "+who)
				}
				return true
			}
		}
	}
	return slices.ContainsFunc(r.Agents, func(a Agent) bool { return a.Report.hasChange(path, x) })
}

// samePlace reports whether a change is at the same place of the same files.
func (y *Change) samePlace(x Change) bool {
	return y.Path == x.Path && y.Kind == x.Kind && y.Old == x.Old && y.New == x.New && y.Diff == x.Diff &&
		y.At == x.At && y.OldAt == x.OldAt && x.At+x.OldAt != ""
}
