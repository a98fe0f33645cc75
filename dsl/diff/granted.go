package diff

import (
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
)

// callable reports whether a node may call a tool, as far as the spec shows. A
// tool that is only for an agent of the file or for a spec that extends this one
// is not callable.
func (s *side) callable(name string) bool {
	if s.program == nil {
		return true // anyone may use tools of a Library
	}
	nodes := s.tree.Get("graph", "nodes").Items()
	if len(nodes) == 0 {
		return grants(s.tree.Get(language.Executor, "tools"), name)
	}
	return slices.ContainsFunc(nodes, func(n dsl.Value) bool {
		switch id := n.Get("id").Text(); {
		case engine.NodeIs[engine.StepRunner](s.program, id):
			tools := n.Get("tools")
			if !tools.Exists() {
				tools = s.tree.Get(n.Get("type").Text(), "tools")
			}
			return grants(tools, name)
		case engine.NodeIs[engine.ToolCaller](s.program, id):
			at := n.Get("tool").Text()
			return at == name || strings.HasPrefix(at, name+"__")
		}
		return false
	})
}

// grants reports whether a list of names and globs contains a tool, or a tool of
// a server. Without a list, all tools are granted.
func grants(tools dsl.Value, name string) bool {
	if !tools.Exists() || len(tools.Items()) == 0 {
		return true
	}
	return slices.ContainsFunc(texts(tools), func(glob string) bool {
		ok, err := path.Match(glob, name)
		return err != nil || ok || strings.HasPrefix(glob, name+"__") || strings.ContainsAny(glob, "*?[")
	})
}
