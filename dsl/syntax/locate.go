package syntax

import (
	"bytes"
	"strings"
)

// PositionAt returns the position of a byte offset in the text of a scalar. It is
// exact for texts on one line, literal blocks and whole files, and for the usual
// forms of folded lines.
func (v *Node) PositionAt(offset int) Position {
	if v.Source == nil || v.Source.Kind == Resolved {
		return v.Position
	}
	if v.wholeFile() {
		return v.Source.PositionAt(offset)
	}
	at := v.Position.offset()
	if at < 0 {
		return v.Position
	}
	w := walker{src: v.Source.Text, i: at, v: v}
	w.begin()
	for n := 0; n < offset && n < len(v.Text) && w.i < len(w.src); n++ {
		w.next(v.Text[n])
	}
	return v.Source.PositionAt(min(w.i, len(v.Source.Text)))
}

// wholeFile reports whether the value is the content of a file.
func (v *Node) wholeFile() bool {
	return v.Style == Literal && v.Line == 1 && v.Column == 1 && len(v.Text) == len(v.Source.Text)
}

// walker walks through the source of a scalar in parallel with its decoded text.
type walker struct {
	src          []byte
	i            int
	v            *Node
	indent       int  // of a block scalar
	pendingBytes int  // decoded bytes of the last escape that are still to come
	folded       bool // the last character was a line end
}

// begin moves to the first character of the text: after a quote, or after the
// header of a block scalar.
func (w *walker) begin() {
	switch w.v.Style {
	case Plain: // nothing precedes it
	case SingleQuoted, DoubleQuoted:
		w.i++
	case Literal, Folded:
		nl := bytes.IndexByte(w.src[w.i:], '\n')
		if nl < 0 {
			return
		}
		w.i += nl + 1
		w.indent = blockIndent(w.src[w.i:])
		if d := headerDigit(w.src[w.i-nl-1 : w.i]); d > 0 {
			w.indent = parentIndent(w.v.Source.line(w.v.Line)) + d
		}
		w.skipIndent()
	}
}

// blockIndent returns the indentation of the first line that is not blank.
func blockIndent(src []byte) int {
	for line := range bytes.Lines(src) {
		if trimmed := bytes.TrimLeft(line, " "); len(bytes.TrimSpace(trimmed)) > 0 {
			return len(line) - len(trimmed)
		}
	}
	return 0
}

// headerDigit returns the indentation in a block's header, or 0 if there is none.
func headerDigit(header []byte) int {
	for _, c := range header[:min(len(header), 3)] {
		if '1' <= c && c <= '9' {
			return int(c - '0')
		}
	}
	return 0
}

// parentIndent returns the indentation of the content of a line, including
// dashes.
func parentIndent(line string) int {
	rest := strings.TrimLeft(line, " ")
	for strings.HasPrefix(rest, "- ") {
		rest = strings.TrimLeft(rest[2:], " ")
	}
	return len(line) - len(rest)
}

func (w *walker) skipIndent() {
	for n := 0; n < w.indent && w.i < len(w.src) && w.src[w.i] == ' '; n++ {
		w.i++
	}
}

// next skips the source of one byte of the text.
func (w *walker) next(c byte) {
	if w.pendingBytes > 0 {
		w.pendingBytes--
		return
	}
	switch w.v.Style {
	case Literal, Folded:
		w.inBlock(c)
	case DoubleQuoted:
		w.inDouble(c)
	case SingleQuoted:
		if w.src[w.i] == '\'' {
			w.i++ // a quote is written twice
		}
		w.folds(c)
	default:
		w.folds(c)
	}
}

func (w *walker) inBlock(c byte) {
	if c == '\n' && w.folded {
		return // the lines were skipped with the first line end
	}
	w.folded = false
	if w.src[w.i] == '\r' {
		w.i++
	}
	if w.i >= len(w.src) || w.src[w.i] != '\n' {
		w.i++
		return
	}
	w.i++
	w.skipIndent()
	for w.v.Style == Folded && w.i < len(w.src) && w.src[w.i] == '\n' {
		w.i++
		w.skipIndent()
	}
	w.folded = w.v.Style == Folded
}

// inDouble skips a whole escape, which may decode to several bytes.
func (w *walker) inDouble(c byte) {
	if w.src[w.i] != '\\' || w.i+1 >= len(w.src) {
		w.folds(c)
		return
	}
	length := map[byte]int{'x': 4, 'u': 6, 'U': 10}[w.src[w.i+1]]
	if w.src[w.i+1] == '\n' { // a line joined with the next one
		w.i += 2
		for w.i < len(w.src) && (w.src[w.i] == ' ' || w.src[w.i] == '\t') {
			w.i++
		}
		w.next(c)
		return
	}
	w.i = min(w.i+max(length, 2), len(w.src))
	switch {
	case c >= 0xF0:
		w.pendingBytes = 3
	case c >= 0xE0:
		w.pendingBytes = 2
	case c >= 0xC0:
		w.pendingBytes = 1
	}
}

// folds skips one character, or a run of line ends with the white space around
// it. The run becomes a space, or line ends after the first one.
func (w *walker) folds(c byte) {
	if c == '\n' && w.folded {
		return
	}
	w.folded = false
	if c != ' ' && c != '\n' || !w.endsLine() {
		w.i++
		return
	}
	for w.i < len(w.src) && strings.IndexByte(" \t\r\n", w.src[w.i]) >= 0 {
		w.i++
	}
	w.folded = true
}

// endsLine reports whether only white space follows up to the end of the line.
func (w *walker) endsLine() bool {
	rest := bytes.TrimLeft(w.src[w.i:], " \t\r")
	return len(rest) > 0 && rest[0] == '\n'
}
