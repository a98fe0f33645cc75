package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/graph"
)

// TestAheadAndBefore uses a graph with two planners, a fork and a loop:
//
//	p1 -> fork -> (x1 | x2) -> p2 -> x3 -> look -> (x3 | p2 | end)
func TestAheadAndBefore(t *testing.T) {
	g := &graph.Graph[string]{Start: "p1", Nodes: []graph.Node{
		{ID: "p1", Type: "plan"},
		{ID: "fork", Type: "route"},
		{ID: "x1", Type: "work"},
		{ID: "x2", Type: "work"},
		{ID: "p2", Type: "plan"},
		{ID: "x3", Type: "work"},
		{ID: "look", Type: "look"},
	}}
	for _, e := range [][2]string{
		{"p1", "fork"}, {"fork", "x2"}, {"fork", "x1"}, {"x1", "p2"}, {"x2", "p2"}, {"p2", "x3"}, {"x3", "look"}, {"look", "x3"}, {"look", "p2"}, {"look", graph.End},
	} {
		g.Edges = append(g.Edges, graph.Edge[string]{From: e[0], To: e[1]})
	}
	for _, tt := range []struct {
		name string
		met  func(of string, match func(id string) bool) []string
		of   string
		typ  string // types, with a space between
		want []string
	}{
		{"on each way the first", g.Ahead, "p1", "work", []string{"x2", "x1"}},
		{"not what is behind the first", g.Ahead, "x1", "work", []string{"x3"}},
		{"itself, by a way back", g.Ahead, "x3", "work", []string{"x3"}},
		{"none", g.Ahead, "p2", "route", nil},
		{"of two types what comes first", g.Ahead, "x3", "plan look", []string{"look"}},
		{"the last before", g.Before, "x3", "plan", []string{"p2"}},
		{"not those before it", g.Before, "x1", "plan", []string{"p1"}},
		{"of a node in turns", g.Before, "look", "plan", []string{"p2"}},
		{"of the start", g.Before, "p1", "plan", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			match := func(id string) bool {
				i := slices.IndexFunc(g.Nodes, func(n graph.Node) bool { return n.ID == id })
				return slices.Contains(strings.Fields(tt.typ), g.Nodes[i].Type)
			}
			if diff := cmp.Diff(tt.want, tt.met(tt.of, match)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
