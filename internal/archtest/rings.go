package archtest

import (
	"maps"
	"slices"
	"strings"
)

// checkRings finds import cycles between folders at every depth. The compiler only rejects cycles between packages:
// a/x -> b and b/y -> a is a cycle of folders.
func checkRings(_ Table, m *Module) []Finding {
	var out []Finding
	for depth := 1; ; depth++ {
		edges, deeper := m.edges(depth)
		if ring := findCycle(edges); ring != nil {
			out = append(out, Finding{ring[0], "folders import each other in a ring: " + strings.Join(ring, " -> ")})
		}
		if !deeper {
			return out
		}
	}
}

// edges returns the imports outside of tests between folders truncated to a depth.
func (m *Module) edges(depth int) (edges map[string][]string, deeper bool) {
	edges = map[string][]string{}
	for _, p := range m.Packages {
		from, more := cutTo(p.Folder, depth)
		deeper = deeper || more
		for _, f := range p.Files {
			if f.Test || isSupport(p.Folder) {
				continue
			}
			for _, imp := range f.Imports {
				folder, ok := m.folderOf(imp.Path)
				if !ok {
					continue
				}
				if to, _ := cutTo(folder, depth); to != from {
					edges[from] = append(edges[from], to)
				}
			}
		}
	}
	return edges, deeper
}

// cutTo truncates a folder to its group and the first parts below it. A package with subfolders is a node of its own
// ("dsl/."), so that dsl -> dsl/guard is not a cycle.
func cutTo(folder string, depth int) (cut string, more bool) {
	group := top(folder)
	if depth == 1 {
		return group, folder != group
	}
	if folder == group {
		return folder + "/.", false
	}
	parts := strings.Split(strings.TrimPrefix(folder, group+"/"), "/")
	if len(parts) < depth-1 {
		return folder + "/.", false
	}
	return group + "/" + strings.Join(parts[:depth-1], "/"), len(parts) > depth-1
}

// findCycle returns one cycle of a graph with the first node repeated at the end, or nil.
func findCycle(edges map[string][]string) []string {
	const (
		open = 1
		done = 2
	)
	state := map[string]int{}
	var path []string
	var visit func(string) []string
	visit = func(n string) []string {
		state[n] = open
		path = append(path, n)
		for _, to := range edges[n] {
			if state[to] == open {
				return append(slices.Clone(path[slices.Index(path, to):]), to)
			}
			if state[to] == 0 {
				if ring := visit(to); ring != nil {
					return ring
				}
			}
		}
		state[n] = done
		path = path[:len(path)-1]
		return nil
	}
	for _, n := range slices.Sorted(maps.Keys(edges)) {
		if state[n] == 0 {
			if ring := visit(n); ring != nil {
				return ring
			}
		}
	}
	return nil
}
