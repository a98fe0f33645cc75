package graph

import "slices"

// Distances in pixels.
const (
	beside    = 26.0 // between boxes of a rank
	between   = 20.0 // between ranks
	laneSpace = 18.0 // between lanes
	margin    = 20.0
)

// place assigns positions to boxes and lanes to lines that lead back.
func (l *layout) place() {
	y := margin
	for _, r := range l.ranks {
		tallest := 0.0
		for _, i := range r {
			tallest = max(tallest, l.boxes[i].h)
		}
		for _, i := range r {
			l.boxes[i].y = y + tallest/2
		}
		y += tallest + between
	}
	l.height = y - between + margin
	for _, r := range l.ranks {
		l.spread(r, func(i int) (float64, float64) { return l.boxes[i].x, 1 })
	}
	for round := range 40 {
		for r := range l.ranks {
			if round%2 == 1 {
				r = len(l.ranks) - 1 - r
			}
			l.spread(l.ranks[r], l.pull)
		}
	}
	l.shift()
	l.lanes()
}

// pull returns the preferred position of a box, the mean of its neighbors, and its
// weight. Points of one long edge attract each other most, which keeps it straight.
func (l *layout) pull(i int) (want, weight float64) {
	b := l.boxes[i]
	sum := 0.0
	for _, n := range append(slices.Clip(b.above), b.below...) {
		w := 1.0
		if l.point(i) {
			w *= 3
		}
		if l.point(n) {
			w *= 3
		}
		sum, weight = sum+w*l.boxes[n].x, weight+w
	}
	if weight == 0 {
		return b.x, 1
	}
	return sum / weight, weight
}

// point reports whether a box is a point or label of an edge.
func (l *layout) point(i int) bool { return i >= l.nodes }

// spread places the boxes of a rank as close as possible to their preferred positions:
// neighbors that would overlap form a group, placed at their weighted mean.
func (l *layout) spread(rank []int, want func(int) (at, weight float64)) {
	type group struct {
		first, n    int
		sum, weight float64 // of the preferred positions of its first box
	}
	var groups []group
	offsets := make([]float64, len(rank))
	for k, i := range rank {
		if k > 0 {
			p := l.boxes[rank[k-1]]
			offsets[k] = offsets[k-1] + p.w/2 + beside + l.boxes[i].w/2
		}
		at, weight := want(i)
		groups = append(groups, group{k, 1, (at - offsets[k]) * weight, weight})
		for len(groups) > 1 {
			a, b := groups[len(groups)-2], groups[len(groups)-1]
			if a.sum/a.weight <= b.sum/b.weight {
				break
			}
			groups = append(groups[:len(groups)-2], group{a.first, a.n + b.n, a.sum + b.sum, a.weight + b.weight})
		}
	}
	for _, g := range groups {
		for k := g.first; k < g.first+g.n; k++ {
			l.boxes[rank[k]].x = g.sum/g.weight + offsets[k]
		}
	}
}

// shift moves the leftmost box to the margin.
func (l *layout) shift() {
	left := l.boxes[0].x
	for _, b := range l.boxes {
		left = min(left, b.x-b.w/2)
	}
	for i := range l.boxes {
		b := &l.boxes[i]
		b.x += margin - left
		l.right = max(l.right, b.x+b.w/2)
	}
}

// lanes places lines that lead back to the right of everything, short ones first, so that
// long ones enclose them.
func (l *layout) lanes() {
	var back []int
	for i := range l.lines {
		if l.lines[i].back {
			back = append(back, i)
		}
	}
	span := func(i int) int {
		v := l.lines[i].via
		return l.boxes[v[0]].rank - l.boxes[v[1]].rank
	}
	slices.SortStableFunc(back, func(a, b int) int { return span(a) - span(b) })
	x := l.right
	for _, i := range back {
		ln := &l.lines[i]
		x += laneSpace + ln.w/2
		ln.lane = x
		x += ln.w / 2
	}
	l.width = x + margin
}
