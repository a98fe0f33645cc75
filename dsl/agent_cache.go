package dsl

import (
	"slices"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
)

const (
	// maxAgents bounds how deep agents may call agents.
	maxAgents = 5
	// maxAgentPlaces bounds the agents of a program. An agent counts once for every
	// place that calls it, because a program holds a copy for each.
	maxAgentPlaces = 1000
)

// agentKey identifies a compiled agent. Agents with the same key share one
// program wherever they are called.
type agentKey struct {
	fileTree *syntax.Node // the tree of the file that contains the agent; nil for the spec of the file itself
	name     string       // path#agent
	text     string       // the digest of an agent in a resolved spec
	edits    string       // the digest of the edits of its prompts
}

// builtAgents caches the agents compiled so far. Loaders of specs that call each
// other share one cache.
type builtAgents map[agentKey]*Spec

// build compiles an agent once. at is the place that calls it. It returns nil
// after reporting an error.
func (l *loader) build(key agentKey, at syntax.Position, compile func() *Spec) *Spec {
	s, done := l.built[key]
	if !done {
		s = compile()
		l.built[key] = s
		return s
	}
	if s != nil && len(l.chain)+s.depth > maxAgents {
		l.tooDeep(at)
		return nil
	}
	return s
}

// rejectCall reports a spec that is already being compiled, or whose call is nested
// too deep.
func (l *loader) rejectCall(src *syntax.Source, at syntax.Position) bool {
	switch {
	case slices.Contains(l.chain, src.PathWithAgent()):
		l.Report.Error(diag.Cycle, at, "the agent %s calls itself: %s", l.Files.Shown(src.PathWithAgent()), l.route(append(slices.Clone(l.chain), src.PathWithAgent())))
	case len(l.chain) >= maxAgents:
		l.tooDeep(at)
	default:
		return false
	}
	return true
}

func (l *loader) tooDeep(at syntax.Position) {
	l.Report.Error(diag.Cycle, at, "agents call agents more than %d levels deep", maxAgents)
}

// countAgent adds an agent and the agents within it to the program's count. It returns
// false after reporting that there are too many.
func (c *compiler) countAgent(s *Spec, at syntax.Position) bool {
	if c.callers+s.places > maxAgentPlaces {
		if c.callers <= maxAgentPlaces {
			c.Report.Error(diag.TooLarge, at, "the spec and the agents it calls have more than %d agent tools", maxAgentPlaces).
				Hint = "use fewer agents, or let one agent call the others"
		}
		c.callers = maxAgentPlaces + 1
		return false
	}
	c.callers += s.places
	c.depth = max(c.depth, s.depth)
	return true
}
