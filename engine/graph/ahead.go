package graph

// Ahead returns the matching nodes that walks from a node reach first, nearest first;
// nodes after a match are not visited. The node itself counts if a walk returns to it.
func (g *Graph[G]) Ahead(of string, match func(id string) bool) []string {
	return g.frontier(of, match, func(e Edge[G]) (from, to string) { return e.From, e.To })
}

// Before returns the matching nodes that walks to a node passed last, nearest first; see
// Ahead.
func (g *Graph[G]) Before(of string, match func(id string) bool) []string {
	return g.frontier(of, match, func(e Edge[G]) (from, to string) { return e.To, e.From })
}

// frontier follows the edges in the direction given by step, up to matching nodes.
func (g *Graph[G]) frontier(of string, match func(id string) bool, step func(Edge[G]) (from, to string)) (out []string) {
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
