package golden

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
)

// Cause is where an author wrote what changed a golden.
type Cause struct {
	Source dsl.Source
	Line   int // in Source.File; 0 = it has no lines
}

// String is "spec.yaml:41 (planner.system_prompt)".
func (c Cause) String() string {
	switch {
	case c.Source.File == "":
		return fmt.Sprintf("built in (%s)", c.Source.Path)
	case c.Line == 0:
		return fmt.Sprintf("%s (%s)", c.Source.File, c.Source.Path)
	}
	return fmt.Sprintf("%s:%d (%s)", c.Source.File, c.Line, c.Source.Path)
}

// Blame finds what of a spec's texts made a change of a node's golden ("" = of
// none): the texts that hold the new lines, and, where lines were only cut,
// those that hold the lines around them. They come in the order of the diff,
// each once, at most five; none = what changed is a value that no text of the
// spec holds.
func Blame(sources []dsl.Source, node string, d Diff) []Cause {
	b := &blamed{pieces: piecesOf(sources), node: node}
	for _, h := range d.Hunks {
		for i := 0; i < len(h.Lines); {
			from := i
			for i < len(h.Lines) && h.Lines[i].Op != Same {
				i++
			}
			if i == from {
				i++
				continue
			}
			b.change(h.Lines, from, i)
			if len(b.causes) >= maxCauses {
				return b.causes[:maxCauses]
			}
		}
	}
	return b.causes
}

const (
	maxCauses = 5
	maxBlamed = 50 // new lines of one change that are looked for
)

type blamed struct {
	pieces []piece
	node   string
	causes []Cause
}

// change blames the lines from to to, none of which stayed the same.
func (b *blamed) change(lines []Line, from, to int) {
	looked := 0
	for _, l := range lines[from:to] {
		if l.Op != Put || looked == maxBlamed {
			continue
		}
		looked++
		b.add(b.best(l))
	}
	if looked > 0 {
		return
	}
	for i := range around { // the nearest line that tells anything
		if from-1-i >= 0 && lines[from-1-i].Op == Same && b.add(b.best(lines[from-1-i])) {
			return
		}
		if to+i < len(lines) && lines[to+i].Op == Same && b.add(b.best(lines[to+i])) {
			return
		}
	}
}

// add notes the source of a piece, once; false = there is none.
func (b *blamed) add(p *piece) bool {
	if p == nil {
		return false
	}
	for _, c := range b.causes {
		if c.Source.Path == p.source.Path && c.Source.File == p.source.File {
			return true
		}
	}
	b.causes = append(b.causes, Cause{*p.source, p.source.LineAt(p.at)})
	return true
}

// best is the piece that explains most of what changed in a line: of those
// that explain as much, the one of which there is more, then the node's own,
// then the first.
func (b *blamed) best(l Line) *piece {
	var best *piece
	var most [3]int
	for i := range b.pieces {
		p := &b.pieces[i]
		changed, all := p.covers(l)
		if changed == 0 {
			continue
		}
		score := [3]int{changed, all, p.near(b.node)}
		if best == nil || slices.Compare(score[:], most[:]) > 0 {
			best, most = p, score
		}
	}
	return best
}

// piece is a line of a source: the texts in it that are no references.
type piece struct {
	source     *dsl.Source
	at         int // where the line begins
	texts      []string
	head, tail bool   // it begins, and ends, with text
	key        string // the last of the path
}

// shortest is a text that says by itself where it comes from.
const shortest = 4

// covers says how many bytes of a line a piece explains: of what changed, and
// of all of it; 0 = it is not the piece's line.
func (p *piece) covers(l Line) (changed, all int) {
	if p.source.File == "" {
		return p.begins(l)
	}
	shown := strings.TrimSpace(l.Text)
	at, longest := 0, 0
	for _, t := range p.texts {
		i := strings.Index(l.Text[at:], t)
		if i < 0 {
			return 0, 0
		}
		from, to := at+i, at+i+len(t)
		changed += overlap(l, from, to)
		all += len(t)
		longest = max(longest, len(strings.TrimSpace(t)))
		at = to
	}
	if !p.tells(l, shown, changed, all, longest) {
		return 0, 0
	}
	return changed, all
}

// tells says that a piece whose texts stand in a line is where it comes from,
// and not a word that happens to be in it.
func (p *piece) tells(l Line, shown string, changed, all, longest int) bool {
	value := strings.HasPrefix(p.source.Path, "parameters.") && p.key == "default"
	switch {
	case strings.Contains(l.Text, `"`+p.key+`"`):
		return true
	case strings.Contains(p.source.Path, ".options."): // of a provider: no prompt has them
		return false
	case len(p.texts) > 1 || !p.head || !p.tail: // values stand between its texts
		first, last := p.texts[0], p.texts[len(p.texts)-1]
		return longest >= shortest && (!p.head || strings.HasPrefix(shown, first)) && (!p.tail || strings.HasSuffix(shown, strings.TrimRight(last, " \t\r")))
	case all == len(shown):
		return true
	}
	const most = 3 // one part of three of the line and of what changed, at least
	return longest >= shortest && most*changed >= overlap(l, 0, len(l.Text)) && (value || most*all >= len(shown))
}

// begins is covers for what is built in: only its beginning is known, on one
// line.
func (p *piece) begins(l Line) (changed, all int) {
	text, shown := p.texts[0], strings.Join(strings.Fields(l.Text), " ")
	if n := min(len(text), len(shown)); n >= leastBuiltIn && text[:n] == shown[:n] {
		return n, n
	}
	return 0, 0
}

// leastBuiltIn is how much of a built-in text tells it from others.
const leastBuiltIn = 16

// overlap is how much of a part of a line changed. A line that is looked at for
// where it stands, and one that lost words only, counts as a whole.
func overlap(l Line, from, to int) int {
	if len(l.Words) == 0 {
		return to - from
	}
	n := 0
	for _, w := range l.Words {
		n += max(0, min(to, w.To)-max(from, w.From))
	}
	return n
}

// near is 1 for a text of the node itself; what is of no node is the tools.
func (p *piece) near(node string) int {
	if strings.HasPrefix(p.source.Path, cmp.Or(node, "tools")+".") {
		return 1
	}
	return 0
}

// piecesOf cuts sources into lines, and these at references.
func piecesOf(sources []dsl.Source) []piece {
	var out []piece
	for i := range sources {
		s := &sources[i]
		key := s.Path[strings.LastIndexByte(s.Path, '.')+1:]
		at := 0
		for line := range strings.SplitSeq(s.Text, "\n") {
			if texts := literals(line); len(texts) > 0 {
				shown := strings.TrimSpace(line)
				out = append(out, piece{s, at, texts, strings.HasPrefix(shown, texts[0]), strings.HasSuffix(shown, texts[len(texts)-1]), key})
			}
			at += len(line) + 1
		}
	}
	return out
}

// literals is what of a line of a template is no reference. A line that holds
// nothing else says nothing.
func literals(line string) []string {
	var out []string
	rest := strings.TrimSpace(line)
	for rest != "" {
		i := strings.IndexByte(rest, '$')
		if i < 0 || i+1 == len(rest) {
			return append(out, rest)
		}
		closer := map[byte]string{'{': "}", '<': ">"}[rest[i+1]]
		end := -1
		if closer != "" {
			end = strings.Index(rest[i:], closer)
		}
		if end < 0 { // no reference: $ is text
			return append(out, rest)
		}
		if strings.TrimSpace(rest[:i]) != "" {
			out = append(out, rest[:i])
		}
		rest = rest[i+end+1:]
	}
	return out
}
