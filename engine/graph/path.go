package graph

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// path returns a line as the d attribute of an SVG path.
func (l *layout) path(ln *line) string {
	if ln.back {
		return l.around(ln)
	}
	var b strings.Builder
	from, to := l.boxes[ln.via[0]], l.boxes[ln.via[len(ln.via)-1]]
	x, y := l.port(ln, ln.via[0], from.below), from.y+from.h/2
	fmt.Fprintf(&b, "M%s %s", px(x), px(y))
	for _, i := range ln.via[1 : len(ln.via)-1] {
		v := l.boxes[i]
		top, bottom := v.y-v.h/2, v.y+v.h/2
		if v.h == 0 { // the point of a long edge passes straight through its rank
			top, bottom = l.band(v)
		}
		curve(&b, x, y, v.x, top)
		fmt.Fprintf(&b, "L%s %s", px(v.x), px(bottom))
		x, y = v.x, bottom
	}
	curve(&b, x, y, l.port(ln, ln.via[len(ln.via)-1], to.above), to.y-to.h/2-1)
	return b.String()
}

// band returns top and bottom of the tallest box of a rank.
func (l *layout) band(v box) (top, bottom float64) {
	tallest := 0.0
	for _, i := range l.ranks[v.rank] {
		tallest = max(tallest, l.boxes[i].h)
	}
	return v.y - tallest/2, v.y + tallest/2
}

// curve continues down to a point.
func curve(b *strings.Builder, x, y, tox, toy float64) {
	if math.Abs(x-tox) < 0.5 {
		fmt.Fprintf(b, "L%s %s", px(tox), px(toy))
		return
	}
	half := (toy - y) / 2
	fmt.Fprintf(b, "C%s %s %s %s %s %s", px(x), px(y+half), px(tox), px(toy-half), px(tox), px(toy))
}

// port returns where a line leaves or enters a box: lines share its width in the order of
// their targets.
func (l *layout) port(ln *line, at int, others []int) float64 {
	b := l.boxes[at]
	if len(others) < 2 {
		return b.x
	}
	next := ln.via[1]
	if at == ln.via[len(ln.via)-1] {
		next = ln.via[len(ln.via)-2]
	}
	sorted := slices.Clone(others)
	slices.SortStableFunc(sorted, func(p, q int) int { return l.boxes[p].order - l.boxes[q].order })
	step := min(22, (b.w-24)/float64(len(others)-1))
	return b.x + (float64(slices.Index(sorted, next))-float64(len(others)-1)/2)*step
}

// around returns the path of a line that leads back: out to its lane, along it, and back
// in, through the sides of boxes that have nothing beside them.
func (l *layout) around(ln *line) string {
	const bend = 8
	from, to := l.boxes[ln.via[0]], l.boxes[ln.via[1]]
	out, in := l.sidePort(ln, ln.via[0], true), l.sidePort(ln, ln.via[1], false)
	var b strings.Builder
	if l.rightmost(from) {
		fmt.Fprintf(&b, "M%s %sH%s", px(from.x+from.w/2), px(out), px(ln.lane-bend))
	} else {
		out = from.y + from.h/2 + between/2
		x := from.x + from.w/2 - 10
		fmt.Fprintf(&b, "M%s %sV%sQ%s %s %s %sH%s", px(x), px(from.y+from.h/2), px(out-5), px(x), px(out), px(x+5), px(out), px(ln.lane-bend))
	}
	end := to.x + to.w/2
	top := in
	if !l.rightmost(to) {
		end = to.x + to.w/2 - 10
		top = to.y - to.h/2 - between/2
	}
	fmt.Fprintf(&b, "Q%s %s %s %sV%sQ%s %s %s %s", px(ln.lane), px(out), px(ln.lane), px(out-bend), px(top+bend), px(ln.lane), px(top), px(ln.lane-bend), px(top))
	if l.rightmost(to) {
		fmt.Fprintf(&b, "H%s", px(end+1))
	} else {
		fmt.Fprintf(&b, "H%sQ%s %s %s %sV%s", px(end+5), px(end), px(top), px(end), px(top+5), px(to.y-to.h/2-1))
	}
	return b.String()
}

// rightmost reports whether nothing is to the right of a box.
func (l *layout) rightmost(b box) bool { return b.order == len(l.ranks[b.rank])-1 }

// sidePort returns the height at which a line that leads back leaves or enters a box.
// Lines share its side, leaving ones below entering ones.
func (l *layout) sidePort(ln *line, at int, leaves bool) float64 {
	mine, n := 0, 0
	for _, leaving := range []bool{false, true} {
		for i := range l.lines {
			o := &l.lines[i]
			end := o.via[len(o.via)-1]
			if leaving {
				end = o.via[0]
			}
			if !o.back || end != at {
				continue
			}
			if o == ln && leaving == leaves {
				mine = n
			}
			n++
		}
	}
	b := l.boxes[at]
	return b.y + (float64(mine)-float64(n-1)/2)*min(10, (b.h-10)/float64(max(n-1, 1)))
}

// labelPlace returns the center of a line's label. The label of a loop is above it, since
// other lines may leave the box next to it.
func (l *layout) labelPlace(ln *line) (x, y float64) {
	if ln.back && ln.via[0] == ln.via[1] {
		b := l.boxes[ln.via[0]]
		return ln.lane, b.y - b.h/2 - ln.h/2
	}
	if ln.back {
		return ln.lane, (l.boxes[ln.via[0]].y + l.boxes[ln.via[1]].y) / 2
	}
	b := l.boxes[ln.via[1]]
	return b.x, b.y
}
