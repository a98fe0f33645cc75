package graph

// Ahead lists the nodes that match and that walks from a node come to first, the
// nearest first: what lies behind one of them is not looked at. The node itself
// counts where a walk comes back to it.
func (g *Graph[G]) Ahead(of string, match func(id string) bool) []string {
	return g.met(of, match, func(e Edge[G]) (from, to string) { return e.From, e.To })
}

// Before lists the nodes that match and that walks to a node came by last, the
// nearest first; see Ahead.
func (g *Graph[G]) Before(of string, match func(id string) bool) []string {
	return g.met(of, match, func(e Edge[G]) (from, to string) { return e.To, e.From })
}

// met goes along the edges, as step turns them, and no further than nodes that
// match.
func (g *Graph[G]) met(of string, match func(id string) bool, step func(Edge[G]) (from, to string)) (out []string) {
	seen := map[string]bool{}
	for todo := []string{of}; len(todo) > 0; todo = todo[1:] {
		for _, e := range g.Edges {
			from, to := step(e)
			if from != todo[0] || seen[to] || to == End {
				continue
			}
			if seen[to] = true; match(to) {
				out = append(out, to)
			} else {
				todo = append(todo, to)
			}
		}
	}
	return out
}
