package graph_test

import (
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/graph"
)

// Runs share a program, so its graph is read by many goroutines, checked or not.
func TestConcurrentReadsOfEdges(t *testing.T) {
	g := &graph.Graph[string]{
		Start: "a",
		Nodes: []graph.Node{{ID: "a"}, {ID: "b"}},
		Edges: []graph.Edge[string]{{From: "a", To: "b", Label: "x"}, {From: "a", To: graph.End}, {From: "b", To: graph.End}},
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if out := g.From("a"); len(out) != 2 || out[0].To != "b" {
				t.Errorf("edges of a: %v", out)
			}
		})
	}
	all.Wait()
	if err := g.Check(); err != nil {
		t.Error(err)
	}
}
