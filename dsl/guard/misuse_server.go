package guard

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// withServerTools is the tools with those of servers that an expression names in
// a text, besides one that it does not name.
func withServerTools(tools []Callee, root ast.Node) []Callee {
	out := make([]Callee, 0, len(tools))
	for i := range tools {
		if !tools[i].Server {
			out = append(out, tools[i])
			continue
		}
		prefix := tools[i].Name + "__"
		named := texts{prefix: prefix, found: []string{prefix}}
		ast.Walk(&root, &named)
		for _, name := range named.found {
			out = append(out, Callee{Name: name, Server: true})
		}
	}
	return out
}

// texts collects the texts of an expression that begin with a prefix.
type texts struct {
	prefix string
	found  []string
}

// Visit implements ast.Visitor.
func (t *texts) Visit(n *ast.Node) {
	if s, ok := (*n).(*ast.StringNode); ok && strings.HasPrefix(s.Value, t.prefix) && !slices.Contains(t.found, s.Value) {
		t.found = append(t.found, s.Value)
	}
}

// unpinned notes a use of the arguments of a tool that is not known, once for
// its server.
func (u *uses) unpinned(at int, tool *Callee) {
	server, _, _ := strings.Cut(tool.Name, "__")
	for i := range u.tools {
		if t := &u.tools[i]; t.Server && strings.HasSuffix(t.Name, "__") && strings.HasPrefix(tool.Name, t.Name) {
			server = strings.TrimSuffix(t.Name, "__")
		}
	}
	if !slices.Contains(u.servers, server) {
		u.servers = append(u.servers, server)
		u.found = append(u.found, Misuse{Offset: at, Server: server})
	}
}
