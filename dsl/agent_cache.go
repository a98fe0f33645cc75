package dsl

import (
	"slices"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
)

const (
	// maxAgents bounds how deep agents may call agents.
	maxAgents = 5
	// maxAgentPlaces bounds the agents of a program, each counted at every place
	// that calls it: a program holds them all.
	maxAgentPlaces = 1000
)

// agentKey says which agent is compiled: one with the same key has the same
// program wherever it is called.
type agentKey struct {
	whole *syntax.Node // the tree of the file that the agent is a part of; nil = a file's own spec
	name  string       // path#agent
	text  string       // of an agent in a resolved spec: its digest
}

// builtAgents are the agents that one compilation has compiled. Loaders of
// specs that call each other share one.
type builtAgents map[agentKey]*Spec

// build compiles an agent once. at is the place that calls it; nil = reported.
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

// calls reports a spec that is being compiled already, or is called too deep.
func (l *loader) calls(src *syntax.Source, at syntax.Position) bool {
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

// holds counts an agent, and those within it, as a part of the program; false =
// there are too many, which is reported.
func (c *compiler) holds(s *Spec, at syntax.Position) bool {
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
