package archtest

import (
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
)

// Circle is the largest set of files of a package in which each file refers to every other one, directly or
// indirectly.
type Circle struct {
	Folder string
	Of     int      // number of files of the package, without tests and generated files
	Files  []string // sorted; a single file means that there is no circle
}

// Circles computes the Circle of each package. A file refers to another if it uses a name, method or field declared
// there.
func (m *Module) Circles() ([]Circle, error) {
	var out []Circle
	for _, p := range m.Packages {
		info, err := m.typesOf(p)
		if err != nil {
			return nil, err
		}
		refs := m.references(p, info)
		c := Circle{Folder: p.Folder, Of: len(refs)}
		for _, files := range components(refs) {
			if len(files) > len(c.Files) {
				c.Files = files
			}
		}
		slices.Sort(c.Files)
		out = append(out, c)
	}
	return out, nil
}

// references returns, for each file of a package, the files that it refers to.
func (m *Module) references(p *Package, info *types.Info) map[string][]string {
	name := func(at token.Pos) string { return filepath.Base(m.fset.Position(at).Filename) }
	refs := map[string][]string{}
	for _, f := range p.Files {
		if !f.Test && !f.Generated {
			refs[name(f.AST.Pos())] = nil
		}
	}
	for id, obj := range info.Uses {
		if obj.Pkg() == nil || obj.Pkg().Path() != m.Path+"/"+p.Folder || !obj.Pos().IsValid() {
			continue
		}
		from, to := name(id.Pos()), name(obj.Pos())
		_, counts := refs[to]
		if known, ok := refs[from]; ok && counts && from != to && !slices.Contains(known, to) {
			refs[from] = append(known, to)
		}
	}
	return refs
}

// components returns the strongly connected components of a graph (Tarjan's algorithm).
func components(edges map[string][]string) [][]string {
	index, low, onStack := map[string]int{}, map[string]int{}, map[string]bool{}
	var stack []string
	var out [][]string
	var visit func(string)
	visit = func(n string) {
		index[n] = len(index) + 1
		low[n] = index[n]
		stack, onStack[n] = append(stack, n), true
		for _, to := range edges[n] {
			if index[to] == 0 {
				visit(to)
				low[n] = min(low[n], low[to])
			} else if onStack[to] {
				low[n] = min(low[n], index[to])
			}
		}
		if low[n] != index[n] {
			return
		}
		i := slices.Index(stack, n)
		for _, member := range stack[i:] {
			onStack[member] = false
		}
		out = append(out, slices.Clone(stack[i:]))
		stack = stack[:i]
	}
	for n := range edges {
		if index[n] == 0 {
			visit(n)
		}
	}
	return out
}
