package graph

import (
	"fmt"
	"strconv"
	"strings"
)

// Maximum sizes of texts, in columns and lines. Tooltips have the rest, up to maxTip
// characters.
const (
	nodeColumns  = 28
	labelColumns = 30
	endColumns   = 34
	maxLines     = 5
	maxTip       = 500
)

// SVG draws a self-contained picture: it includes its styles, for light and dark themes,
// and has no scripts. name is its title.
func (d *Drawing) SVG(name string) string {
	s := &svg{d: d, wires: d.wires()}
	s.measure()
	s.l = arrange(d, s.wires, s.nodeSizes, s.labelSizes)
	title := wrap(name, 60, 2)
	caption := wrap(d.statusText(), 60, 3)
	for _, text := range noteTexts(d.notes, approvalText) {
		caption = append(caption, wrap(text, 60, 3)...)
	}
	s.head(name, title, caption)
	for i := range s.l.lines {
		s.line(&s.l.lines[i])
	}
	for i := range s.l.lines {
		s.label(&s.l.lines[i])
	}
	for i := range s.nodeSizes {
		s.node(i)
	}
	s.b.WriteString("</g>\n</svg>\n")
	return s.b.String()
}

// svg is an SVG picture that is being drawn.
type svg struct {
	d          *Drawing
	l          *layout
	b          strings.Builder
	nodeLines  [][]boxLine
	nodeSizes  []dimensions // start, the nodes, end
	wires      []wire
	labelTexts [][]labelLine
	labelSizes []dimensions // of the wires
}

// measure wraps all texts and computes their sizes.
func (s *svg) measure() {
	add := func(lines []boxLine) {
		size := dimensions{64, 16}
		for _, l := range lines {
			size.w, size.h = max(size.w, l.width+28), size.h+l.height
		}
		s.nodeLines, s.nodeSizes = append(s.nodeLines, lines), append(s.nodeSizes, size)
	}
	add([]boxLine{textLine("name", "start", 8, 18)})
	for _, n := range s.d.nodes {
		add(boxOf(n))
	}
	end := []boxLine{textLine("name", End, 8, 18)}
	if s.d.ends > 0 {
		for _, t := range wrap(s.d.statusText(), endColumns, 3) {
			end = append(end, textLine("type", t, 7, 18))
		}
	}
	add(end)
	for i := range s.wires {
		lines, wide, size := s.wires[i].label(), 0, dimensions{}
		for _, line := range lines {
			wide = max(wide, width(line.text))
		}
		if len(lines) > 0 {
			size = dimensions{float64(wide)*6.7 + 10, float64(len(lines))*15 + 6}
		}
		s.labelTexts, s.labelSizes = append(s.labelTexts, lines), append(s.labelSizes, size)
	}
}

func (s *svg) head(name string, title, caption []string) {
	top := 16.0
	width := max(s.l.width, widest(title)*9.8+2*margin, (widest(caption)*7)+2*margin)
	height := top + float64(len(title))*20 + float64(len(caption))*17 + s.l.height
	fmt.Fprintf(&s.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="pex-title pex-desc" class="pex">`+"\n",
		px(width), px(height), px(width), px(height))
	fmt.Fprintf(&s.b, "<title id=\"pex-title\">%s</title>\n<desc id=\"pex-desc\">%s</desc>\n", escape(clip(name, maxTip)), escape(s.d.description()))
	s.b.WriteString("<style>" + Style + "</style>\n")
	s.b.WriteString(`<defs><marker id="pex-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse" markerUnits="userSpaceOnUse"><path d="M0 0.5 8 4 0 7.5z" class="tip"/></marker>` +
		`<marker id="pex-taken" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="10" markerHeight="10" orient="auto-start-reverse" markerUnits="userSpaceOnUse"><path d="M0 0.5 8 4 0 7.5z" class="tip taken"/></marker></defs>` + "\n")
	s.b.WriteString(`<rect class="paper" width="100%" height="100%" rx="8"/>` + "\n")
	y := top
	for _, t := range title {
		y += 20
		s.text("title", margin, y-5, t)
	}
	for _, t := range caption {
		y += 17
		s.text("caption", margin, y-5, t)
	}
	fmt.Fprintf(&s.b, `<g transform="translate(%s %s)">`+"\n", px((width-s.l.width)/2), px(y))
}

func (s *svg) text(class string, x, y float64, text string) {
	fmt.Fprintf(&s.b, `<text class="%s" x="%s" y="%s">%s</text>`+"\n", class, px(x), px(y), escape(text))
}

// node draws a box, or the start or the end.
func (s *svg) node(i int) {
	b := s.l.boxes[i]
	class, tip, visits, at := "node", "", 0, false
	switch {
	case i == 0:
		class, tip = "terminal", "start"
		if s.d.walk != nil && s.d.walk.At != "" {
			visits = 1
		}
	case i == len(s.nodeSizes)-1:
		class, tip, visits = "terminal", End, s.d.ends
	default:
		n := s.d.nodes[i-1]
		tip, visits, at = s.d.boxTip(n), n.visits, n.at
	}
	if s.d.walk != nil {
		class += map[bool]string{true: " visited", false: " unseen"}[visits > 0]
	}
	if at {
		class += " at"
	}
	radius := 7.0
	if strings.HasPrefix(class, "terminal") {
		radius = b.h / 2
	}
	fmt.Fprintf(&s.b, `<g class="%s"><title>%s</title><rect x="%s" y="%s" width="%s" height="%s" rx="%s"/>`+"\n",
		class, escape(tip), px(b.x-b.w/2), px(b.y-b.h/2), px(b.w), px(b.h), px(radius))
	s.content(b, s.nodeLines[i])
	if visits > 1 || visits > 0 && i > 0 && i < len(s.nodeSizes)-1 {
		s.badge(b, visits)
	}
	s.b.WriteString("</g>\n")
}

// badge draws the number of visits in the corner of a box.
func (s *svg) badge(b box, visits int) {
	text := times(visits)
	w := float64(len(text))*6.5 + 8
	x, y := b.x+b.w/2-6, b.y-b.h/2
	fmt.Fprintf(&s.b, `<rect class="badge" x="%s" y="%s" width="%s" height="17" rx="8.5"/>`+"\n", px(x-w/2), px(y-8.5), px(w))
	s.text("count", x, y+4, text)
}

// class returns the CSS classes of a line or its label.
func (s *svg) class(ln *line, kind string) string {
	if s.d.walk == nil {
		return kind
	}
	taken := s.d.walk.At != "" // the line from start
	if ln.wire >= 0 {
		taken = s.wires[ln.wire].taken
		if s.wires[ln.wire].jump {
			kind += " jump"
		}
	}
	if taken {
		return kind + " taken"
	}
	return kind + " unseen"
}

func (s *svg) line(ln *line) {
	class := s.class(ln, "edge")
	arrow := "pex-arrow"
	if strings.HasSuffix(class, " taken") {
		arrow = "pex-taken"
	}
	fmt.Fprintf(&s.b, `<path class="%s" d="%s" marker-end="url(#%s)"/>`+"\n", class, s.l.path(ln), arrow)
}

// label writes the text of a line over it.
func (s *svg) label(ln *line) {
	if ln.wire < 0 || ln.h == 0 {
		return
	}
	x, y := s.l.labelPlace(ln)
	fmt.Fprintf(&s.b, `<g class="%s"><title>%s</title><rect x="%s" y="%s" width="%s" height="%s" rx="4"/>`+"\n",
		s.class(ln, "label"), escape(s.wires[ln.wire].tip()), px(x-ln.w/2), px(y-ln.h/2), px(ln.w), px(ln.h))
	lines := s.labelTexts[ln.wire]
	for k, t := range lines {
		s.text(t.class, x, y-float64(len(lines)-1)*7.5+float64(k)*15+4, t.text)
	}
	s.b.WriteString("</g>\n")
}

// px formats a coordinate with at most one decimal.
func px(f float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}
