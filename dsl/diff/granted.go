package diff

import (
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
)

// callable says that a node may call a tool, as far as the spec can tell: what
// stands in it only for others, an agent of the file or a spec that extends it,
// is called by none.
func (s *side) callable(name string) bool {
	if s.program == nil {
		return true // of a Library anybody may use it
	}
	nodes := s.tree.Get("graph", "nodes").Items()
	if len(nodes) == 0 {
		return grants(s.tree.Get("executor", "tools"), name)
	}
	return slices.ContainsFunc(nodes, func(n dsl.Value) bool {
		switch n.Get("type").Text() {
		case "executor":
			tools := n.Get("tools")
			if !tools.Exists() {
				tools = s.tree.Get("executor", "tools")
			}
			return grants(tools, name)
		case "tool":
			at := n.Get("tool").Text()
			return at == name || strings.HasPrefix(at, name+"__")
		}
		return false
	})
}

// grants says that a list of names and globs holds a tool, or one of a server's;
// without a list all tools are granted.
func grants(tools dsl.Value, name string) bool {
	if !tools.Exists() || len(tools.Items()) == 0 {
		return true
	}
	return slices.ContainsFunc(texts(tools), func(glob string) bool {
		ok, err := path.Match(glob, name)
		return err != nil || ok || strings.HasPrefix(glob, name+"__") || strings.ContainsAny(glob, "*?[")
	})
}
