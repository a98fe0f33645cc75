package golden

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/eval/textdiff"
)

// Cause is a source line that changed a golden.
type Cause struct {
	Source dsl.Source
	Line   int // in Source.File; 0 = it has no lines
}

// String is "spec.yaml:41 (planner.system_prompt)".
func (c Cause) String() string {
	switch {
	case c.Source.File == "":
		return fmt.Sprintf("built in (%s): pexctl's own text, and none of the spec", c.Source.Path)
	case c.Line == 0:
		return fmt.Sprintf("%s (%s)", c.Source.File, c.Source.Path)
	}
	return fmt.Sprintf("%s:%d (%s)", c.Source.File, c.Line, c.Source.Path)
}

// Blame returns the spec texts that caused a change of a node's golden ("" = none): those
// that contain the new lines or, if lines were only removed, those around them. They are
// in diff order, distinct, at most five; none = a value changed that is not in the spec.
func Blame(sources []dsl.Source, node string, d textdiff.Diff) []Cause {
	b := &blamed{pieces: piecesOf(sources), node: node}
	for _, h := range d.Hunks {
		for i := 0; i < len(h.Lines); {
			from := i
			for i < len(h.Lines) && h.Lines[i].Op != textdiff.Same {
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
func (b *blamed) change(lines []textdiff.Line, from, to int) {
	looked := 0
	for _, l := range lines[from:to] {
		if l.Op != textdiff.Put || looked == maxBlamed {
			continue
		}
		looked++
		b.add(b.best(l))
	}
	if looked > 0 {
		return
	}
	for i := range textdiff.Around { // the nearest line that tells anything
		if from-1-i >= 0 && lines[from-1-i].Op == textdiff.Same && b.add(b.best(lines[from-1-i])) {
			return
		}
		if to+i < len(lines) && lines[to+i].Op == textdiff.Same && b.add(b.best(lines[to+i])) {
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
// then the first. Where only the value of a reference changed, it is the value.
func (b *blamed) best(l textdiff.Line) *piece {
	var best *piece
	var most [3]int
	var refs []string
	for i := range b.pieces {
		p := &b.pieces[i]
		changed, all := p.covers(l)
		if changed == 0 {
			if all > 0 {
				refs = append(refs, p.refs...)
			}
			continue
		}
		score := [3]int{changed, all, p.near(b.node)}
		if best == nil || slices.Compare(score[:], most[:]) > 0 {
			best, most = p, score
		}
	}
	if best == nil {
		return b.value(l, refs)
	}
	return best
}

// value is a line of what a parameter holds, one of those that a line of a
// template refers to, where it is what changed.
func (b *blamed) value(l textdiff.Line, refs []string) *piece {
	for i := range b.pieces {
		p := &b.pieces[i]
		name, declared := strings.CutSuffix(p.source.Path, ".default")
		if !slices.Contains(refs, name) || !declared && strings.Count(p.source.Path, ".") > 1 {
			continue
		}
		if slices.ContainsFunc(p.texts, func(t string) bool { return changedTo(l, t) }) {
			return p
		}
	}
	return nil
}

// changedTo says that a text stands in a line, and a word of it is new.
func changedTo(l textdiff.Line, text string) bool {
	words := l.Words
	if len(words) == 0 {
		words = []textdiff.Span{{From: 0, To: len(l.Text)}}
	}
	return strings.Contains(l.Text, text) && slices.ContainsFunc(words, func(w textdiff.Span) bool { return strings.Contains(text, l.Text[w.From:w.To]) })
}
