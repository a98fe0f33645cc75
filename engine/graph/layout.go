package graph

import (
	"cmp"
	"slices"
)

// box occupies space in a layout: a node, the label of an edge, or a point that a long
// edge passes.
type box struct {
	rank, order  int
	w, h         float64
	x, y         float64 // its center
	above, below []int   // boxes connected by lines
}

// line is a wire in a layout. It leads down through its boxes, or back in a lane beside
// all boxes.
type line struct {
	wire int // -1 = the one from start
	via  []int
	back bool
	lane float64 // center x of a line that leads back
	w, h float64 // of its label
}

// layout has the positions of everything. Boxes 0 to len(nodes)+1 are start, the nodes
// and end; nodes have even ranks, labels odd ones.
type layout struct {
	boxes         []box
	nodes         int // number of boxes that are not points of lines
	lines         []line
	ranks         [][]int // boxes from left to right
	width, height float64
	right         float64 // of all boxes
}

// dimensions is the size of a node or label.
type dimensions struct{ w, h float64 }

// arrange computes a layered layout: ranks by the longest path from the start, an order
// with few crossings, then positions; lines that lead back are placed beside it.
func arrange(d *Drawing, wires []wire, nodes, labels []dimensions) *layout {
	l := &layout{boxes: make([]box, len(nodes)), nodes: len(nodes)}
	for i, s := range nodes {
		l.boxes[i].w, l.boxes[i].h = s.w, s.h
	}
	ids := map[string]int{End: len(nodes) - 1}
	for i, n := range d.nodes {
		ids[n.ID] = i + 1
	}
	ends := make([][2]int, 0, len(wires)+1)
	ends = append(ends, [2]int{0, ids[d.start]})
	for _, w := range wires {
		ends = append(ends, [2]int{ids[w.from], ids[w.to]})
	}
	back := backward(len(nodes), ends)
	l.rank(ends, back)
	for i, e := range ends {
		ln := line{wire: i - 1, back: back[i], via: []int{e[0]}}
		if i > 0 {
			ln.w, ln.h = labels[i-1].w, labels[i-1].h
		}
		if !ln.back {
			l.pass(&ln, e)
		}
		ln.via = append(ln.via, e[1])
		l.lines = append(l.lines, ln)
	}
	l.order()
	l.place()
	return l
}

// backward finds the edges that close a cycle, including loops.
func backward(n int, ends [][2]int) []bool {
	back, state := make([]bool, len(ends)), make([]int, n) // 0 unvisited, 1 in progress, 2 done
	var visit func(int)
	visit = func(at int) {
		state[at] = 1
		for i, e := range ends {
			if e[0] != at {
				continue
			}
			switch state[e[1]] {
			case 0:
				visit(e[1])
			case 1:
				back[i] = true
			}
		}
		state[at] = 2
	}
	for i := range n {
		if state[i] == 0 {
			visit(i)
		}
	}
	return back
}

// rank assigns even ranks by the longest path; the end comes last.
func (l *layout) rank(ends [][2]int, back []bool) {
	deepest := 0
	for range l.boxes {
		for i, e := range ends {
			if !back[i] {
				l.boxes[e[1]].rank = max(l.boxes[e[1]].rank, l.boxes[e[0]].rank+2)
				deepest = max(deepest, l.boxes[e[1]].rank)
			}
		}
	}
	end := &l.boxes[len(l.boxes)-1]
	for _, b := range l.boxes[:len(l.boxes)-1] {
		if b.rank == deepest {
			deepest += 2
			break
		}
	}
	end.rank = deepest
}

// pass adds the boxes that an edge passes, including its label.
func (l *layout) pass(ln *line, e [2]int) {
	from, to := l.boxes[e[0]].rank, l.boxes[e[1]].rank
	last := e[0]
	for r := from + 1; r < to; r++ {
		b := box{rank: r, w: 10}
		if r == from+1 {
			b.w, b.h = max(ln.w, 10), ln.h
		}
		l.boxes = append(l.boxes, b)
		l.link(last, len(l.boxes)-1)
		last = len(l.boxes) - 1
		ln.via = append(ln.via, last)
	}
	l.link(last, e[1])
}

func (l *layout) link(a, b int) {
	l.boxes[a].below = append(l.boxes[a].below, b)
	l.boxes[b].above = append(l.boxes[b].above, a)
}

// order moves the boxes of each rank close to their neighbors, down and up a few times,
// and keeps the order with the fewest crossings.
func (l *layout) order() {
	for i, b := range l.boxes {
		for len(l.ranks) <= b.rank {
			l.ranks = append(l.ranks, nil)
		}
		l.ranks[b.rank] = append(l.ranks[b.rank], i)
	}
	l.number()
	best, fewest := l.copyRanks(), l.crossings()
	for round := range 12 {
		for r := range l.ranks {
			if round%2 == 1 {
				r = len(l.ranks) - 1 - r
			}
			l.sortRank(r, round%2 == 0)
		}
		if n := l.crossings(); n < fewest {
			best, fewest = l.copyRanks(), n
		}
	}
	l.ranks = best
	l.number()
}

func (l *layout) copyRanks() [][]int {
	out := make([][]int, len(l.ranks))
	for i, r := range l.ranks {
		out[i] = slices.Clone(r)
	}
	return out
}

func (l *layout) number() {
	for _, r := range l.ranks {
		for i, b := range r {
			l.boxes[b].order = i
		}
	}
}

// sortRank orders a rank by the mean position of the neighbors above or below.
func (l *layout) sortRank(r int, byAbove bool) {
	mean := func(i int) float64 {
		near := l.boxes[i].below
		if byAbove {
			near = l.boxes[i].above
		}
		if len(near) == 0 {
			return float64(l.boxes[i].order)
		}
		sum := 0.0
		for _, n := range near {
			sum += float64(l.boxes[n].order)
		}
		return sum / float64(len(near))
	}
	slices.SortStableFunc(l.ranks[r], func(a, b int) int { return cmp.Compare(mean(a), mean(b)) })
	for i, b := range l.ranks[r] {
		l.boxes[b].order = i
	}
}

// crossings counts the crossings of lines between ranks.
func (l *layout) crossings() int {
	n := 0
	for _, r := range l.ranks {
		for i, a := range r {
			for _, b := range r[i+1:] {
				for _, x := range l.boxes[a].below {
					for _, y := range l.boxes[b].below {
						if l.boxes[x].order > l.boxes[y].order {
							n++
						}
					}
				}
			}
		}
	}
	return n
}
