package format

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/pexctl/pex/dsl/syntax"
)

// formatter moves the lines of a source; it never rewrites a value.
type formatter struct {
	lines []string
	out   []string
}

func (f *formatter) line(n int) string { return f.lines[n-1] }

func (f *formatter) emit(lines ...string) { f.out = append(f.out, lines...) }

func blankLine(s string) bool { return strings.TrimSpace(s) == "" }

func indentOf(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

func isComment(s string) bool { return strings.HasPrefix(strings.TrimSpace(s), "#") }

// header returns the lines above the first key that apply to the whole file or
// are separated by an empty line. They stay at the top whatever the order of the
// keys.
func (f *formatter) header(first int) []string {
	end := 0
	for n := 1; n < first; n++ {
		if blankLine(f.line(n)) || strings.HasPrefix(f.line(n), "---") || strings.HasPrefix(f.line(n), "%") || strings.Contains(f.line(n), syntax.IgnoreWord+"-file") {
			end = n
		}
	}
	out := slices.Clone(f.lines[:end])
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	return out
}

// part is one entry of a mapping or list with its lines.
type part struct {
	key, val *yaml.Node // key is nil in a list
	lead     int        // first line, including the comments above
	start    int        // line of the key or dash
	end      int        // last line
}

// parts divides the lines from..to between the entries that start at the given
// lines, indented by column-1.
func (f *formatter) parts(p []part, from, to, column int) []part {
	for i := range p {
		p[i].lead = from
		if i > 0 {
			n := p[i].start
			for n > p[i-1].start+1 && f.above(n-1, column) {
				n--
			}
			p[i].lead, p[i-1].end = n, n-1
		}
	}
	p[len(p)-1].end = to
	return p
}

// above reports whether a line belongs to the next entry: it is empty, or a
// comment that is not indented deeper.
func (f *formatter) above(n, column int) bool {
	s := f.line(n)
	return blankLine(s) || isComment(s) && indentOf(s) < column
}

func (f *formatter) mapping(n *yaml.Node, from, to, indent int, order Order) {
	p := make([]part, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		p = append(p, part{key: n.Content[i], val: n.Content[i+1], start: n.Content[i].Line})
	}
	p = f.parts(p, from, to, n.Content[0].Column)
	rank := func(e part) int {
		if i := slices.Index(order.First, e.key.Value); i >= 0 {
			return i
		}
		return len(order.First)
	}
	slices.SortStableFunc(p, func(a, b part) int { return rank(a) - rank(b) })
	for i, e := range p {
		f.lead(e, indent, i == 0)
		f.entry(e, indent, order.under(e.key.Value))
	}
}

func (f *formatter) list(n *yaml.Node, from, to, indent int, order Order) {
	p := make([]part, len(n.Content))
	for i, it := range n.Content {
		p[i] = part{val: it, start: f.dash(it, n.Column)}
	}
	p = f.parts(p, from, to, n.Column)
	for i, e := range p {
		f.lead(e, indent, i == 0)
		f.item(e, n.Column, indent, order.under("*"))
	}
}

// dash returns the line of the dash of a list item.
func (f *formatter) dash(it *yaml.Node, column int) int {
	for n := it.Line; n > 0; n-- {
		if s := f.line(n); len(s) >= column && s[column-1] == '-' && (blankLine(s[:column-1]) || n == it.Line) {
			return n
		}
	}
	panic("a list's item has no dash")
}

// lead writes the comments above an entry, and an empty line if there was one.
func (f *formatter) lead(e part, indent int, first bool) {
	for n := e.lead; n < e.start; n++ {
		s := strings.TrimSpace(f.line(n))
		switch {
		case s != "":
			f.emit(strings.Repeat(" ", indent) + s)
		case len(f.out) > 0 && f.out[len(f.out)-1] != "" && (!first || n != e.lead):
			f.emit("")
		}
	}
}

// entry writes one key and its value.
func (f *formatter) entry(e part, indent int, order Order) {
	key, rest := f.keyText(e.key)
	f.value(e, strings.Repeat(" ", indent)+key+":", rest, e.key.Column-1, indent, order)
}

// keyText returns a key as written, and the text after its colon on the line.
func (f *formatter) keyText(k *yaml.Node) (key, rest string) {
	s := string([]rune(f.line(k.Line))[k.Column-1:])
	end := len(k.Value)
	if k.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		end = quoteEnd(s)
	}
	key, rest = s[:end], strings.TrimLeft(s[end:], " ")
	if !strings.HasPrefix(rest, ":") {
		panic("a key has no colon")
	}
	return key, strings.TrimSpace(rest[1:])
}

// quoteEnd returns the length of the quoted text at the start of a line.
func quoteEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] == '"':
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	panic("a quote is not closed on its line")
}

// value writes what follows a head ("key:" or "-"). rest is the rest of the
// head's line, old the old indentation of the head, indent the new one.
func (f *formatter) value(e part, head, rest string, old, indent int, order Order) {
	v := e.val
	nested := (v.Kind == yaml.MappingNode || v.Kind == yaml.SequenceNode) && v.Style&yaml.FlowStyle == 0 && len(v.Content) > 0
	switch {
	case nested && v.Line > e.start:
		f.emit(withRest(head, rest))
		f.nested(v, e.start+1, e.end, indent+2, order)
	case nested:
		panic("a block begins on the line of its key")
	case v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && v.Line == e.start:
		f.emit(withRest(head, rest))
		f.block(e, rest, old, indent)
	default:
		f.emit(withRest(head, rest))
		f.continued(e, old, indent)
	}
}

// nested writes a block below a head. Comments after it with less indentation
// belong to its parent.
func (f *formatter) nested(v *yaml.Node, from, to, indent int, order Order) {
	end := to
	for end > from && (blankLine(f.line(end)) || isComment(f.line(end)) && indentOf(f.line(end)) < v.Column-1) {
		end--
	}
	if v.Kind == yaml.MappingNode {
		f.mapping(v, from, end, indent, order)
	} else {
		f.list(v, from, end, indent, order)
	}
	f.tail(end+1, to, indent-2)
}

// tail writes the comments after an entry.
func (f *formatter) tail(from, to, indent int) {
	for n := from; n <= to; n++ {
		if s := strings.TrimSpace(f.line(n)); s != "" {
			f.emit(strings.Repeat(" ", indent) + s)
		} else if f.out[len(f.out)-1] != "" && n < to {
			f.emit("")
		}
	}
}

func withRest(head, rest string) string {
	if rest == "" {
		return head
	}
	return head + " " + rest
}

// block writes the lines of a block scalar and shifts them as a whole.
func (f *formatter) block(e part, header string, old, indent int) {
	content := -1
	for n := e.start + 1; n <= e.end && content < 0; n++ {
		if !blankLine(f.line(n)) {
			content = indentOf(f.line(n))
		}
	}
	by := indent + 2 - content
	if strings.ContainsAny(strings.Fields(header)[0], "123456789") {
		by = indent - old // relative to its parent
	}
	for n := e.start + 1; n <= e.end; n++ {
		s := f.line(n)
		switch {
		case blankLine(s) && len(s)+by <= indent:
			f.emit("")
		case by >= 0:
			f.emit(strings.Repeat(" ", by) + s)
		default:
			f.emit(s[min(-by, indentOf(s)):])
		}
	}
}

// continued writes the remaining lines of a text or of a flow collection.
func (f *formatter) continued(e part, old, indent int) {
	end := e.end
	for end > e.start && (blankLine(f.line(end)) || isComment(f.line(end))) {
		end--
	}
	defer f.tail(end+1, e.end, indent)
	for n := e.start + 1; n <= end; n++ {
		s := f.line(n)
		t := strings.TrimSpace(s)
		least := indent + 2
		if t != "" && (t[0] == '}' || t[0] == ']') {
			least = indent
		}
		if t == "" {
			f.emit("")
			continue
		}
		f.emit(strings.Repeat(" ", max(indentOf(s)+indent-old, least)) + strings.TrimRight(s, " ")[indentOf(s):])
	}
}

// item writes one entry of a list.
func (f *formatter) item(e part, column, indent int, order Order) {
	v := e.val
	head := strings.Repeat(" ", indent) + "-"
	after := f.line(e.start)[column:]
	nested := v.Style&yaml.FlowStyle == 0 && len(v.Content) > 0
	if !nested || v.Line > e.start {
		f.value(e, head, strings.TrimSpace(after), column-1, indent, order)
		return
	}
	at := len(f.out)
	f.nested(v, e.start, e.end, indent+2, order)
	f.out[at] = head + " " + strings.TrimLeft(f.out[at], " ")
}
