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
	Line   int // in Source.File; 0 = unknown
}

// String is "spec.yaml:41 (planner.system_prompt)".
func (c Cause) String() string {
	switch {
	case c.Source.File == "":
		return fmt.Sprintf("built in (%s): pexctl's own text, not from the spec", c.Source.Path)
	case c.Line == 0:
		return fmt.Sprintf("%s (%s)", c.Source.File, c.Source.Path)
	}
	return fmt.Sprintf("%s:%d (%s)", c.Source.File, c.Line, c.Source.Path)
}

// Blame returns the spec texts that caused a change of a node's golden ("" = none): those
// that contain the new lines or, if lines were only removed, those around them. They are
// in diff order, distinct, at most five; none = a value changed that is not in the spec.
func Blame(sources []dsl.Source, node string, d textdiff.Diff) []Cause {
	b := &blamer{pieces: piecesOf(sources), node: node}
	for _, h := range d.Hunks {
		for i := 0; i < len(h.Lines); {
			from := i
			for i < len(h.Lines) && h.Lines[i].Op != textdiff.Equal {
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
	maxCauses   = 5
	maxSearched = 50 // at most this many new lines of a change are searched for
)

// blamer collects the causes of a diff.
type blamer struct {
	pieces []piece
	node   string
	causes []Cause
}

// change finds the causes of the changed lines from..to-1.
func (b *blamer) change(lines []textdiff.Line, from, to int) {
	searched := 0
	for _, l := range lines[from:to] {
		if l.Op != textdiff.Insert || searched == maxSearched {
			continue
		}
		searched++
		b.add(b.best(l))
	}
	if searched > 0 {
		return
	}
	for i := range textdiff.ContextLines { // the nearest unchanged line that has a source
		if from-1-i >= 0 && lines[from-1-i].Op == textdiff.Equal && b.add(b.best(lines[from-1-i])) {
			return
		}
		if to+i < len(lines) && lines[to+i].Op == textdiff.Equal && b.add(b.best(lines[to+i])) {
			return
		}
	}
}

// add records the source of p unless it is recorded already. It reports whether p is non-nil.
func (b *blamer) add(p *piece) bool {
	if p == nil {
		return false
	}
	for _, c := range b.causes {
		if c.Source.Path == p.source.Path && c.Source.File == p.source.File {
			return true
		}
	}
	b.causes = append(b.causes, Cause{*p.source, p.source.LineAt(p.offset)})
	return true
}

// best returns the piece that explains most of what changed in a line. Ties go to the piece that covers more of
// the line, then to one of the node itself, then to the first. If only the value of a reference changed, best returns
// that value.
func (b *blamer) best(l textdiff.Line) *piece {
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

// value returns the line of a parameter's value that appears in l with a changed word, for one of the referenced
// parameters.
func (b *blamer) value(l textdiff.Line, refs []string) *piece {
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

// changedTo reports whether l contains text and at least one word of it is new.
func changedTo(l textdiff.Line, text string) bool {
	words := l.Words
	if len(words) == 0 {
		words = []textdiff.Span{{From: 0, To: len(l.Text)}}
	}
	return strings.Contains(l.Text, text) && slices.ContainsFunc(words, func(w textdiff.Span) bool { return strings.Contains(text, l.Text[w.From:w.To]) })
}
