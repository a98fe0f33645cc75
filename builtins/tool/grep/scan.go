package grep

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
)

const (
	blockSize = 256 << 10 // bytes read at once; a longer line is searched in pieces
	maxLine   = 400       // bytes of a line that are shown
	sniffed   = 8 << 10   // bytes looked at to tell text from binary
)

// ErrBinary is returned for a stream that is no text.
var ErrBinary = errors.New("not a text file")

// Line is one line to show.
type Line struct {
	Number int
	Text   string // valid UTF-8, cut around the match when it is long
	Match  bool   // false for a line of the context
	Gap    bool   // with context: lines were left out before this one
}

// Scan reads to the end and counts the lines that match; the first `most` of
// them, and the lines around those, go to visit in order. Memory does not grow
// with the stream. It ends with the context's error, the reader's, or ErrBinary.
func (m *Matcher) Scan(ctx context.Context, r io.Reader, most int, visit func(Line)) (matches int, err error) {
	s := scan{Matcher: m, most: most, visit: visit, number: 1, lastHit: -1}
	buf := make([]byte, blockSize)
	kept, first, ended := 0, true, false
	for !ended {
		if err := ctx.Err(); err != nil {
			return s.matches, err
		}
		n, err := io.ReadFull(r, buf[kept:])
		if ended = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !ended {
			return s.matches, err
		}
		block := buf[:kept+n]
		if first && bytes.IndexByte(block[:min(len(block), sniffed)], 0) >= 0 {
			return 0, ErrBinary
		}
		first = false
		kept = copy(buf, s.take(block, ended))
	}
	return s.matches, nil
}

// scan is the state of one Scan.
type scan struct {
	*Matcher
	most    int
	visit   func(Line)
	lower   []byte
	number  int // of the next line
	matches int
	lastHit int // number of the line that matched last
	shown   int // number of the line shown last
	before  []Line
}

// take searches the whole lines of a block and returns what belongs to the
// next one. An over-long line is searched as it comes.
func (s *scan) take(block []byte, ended bool) (rest []byte) {
	end, piece := bytes.LastIndexByte(block, '\n')+1, false
	switch {
	case ended:
		end = len(block)
	case end == 0:
		end, piece = len(block), true
	}
	lines := block[:end]
	if !s.quick(lines, piece) {
		s.each(lines, piece)
	}
	if piece {
		return block[len(block)-s.overlap():]
	}
	return block[end:]
}

// quick passes over lines none of which can match.
func (s *scan) quick(lines []byte, piece bool) bool {
	if s.fold {
		s.lower = lowered(s.lower, lines)
	}
	if s.following() || s.mayMatch(lines, s.lower) {
		return false
	}
	n := bytes.Count(lines, []byte{'\n'})
	if s.context > 0 && !piece {
		tail, skipped := lastLines(lines, s.context)
		s.number += n - skipped
		s.each(tail, false)
		return true
	}
	s.number += n
	return true
}

// following says whether the next line is still shown as context.
func (s *scan) following() bool {
	return s.lastHit >= 0 && s.matches <= s.most && s.number <= s.lastHit+s.context
}

// each looks at every line.
func (s *scan) each(lines []byte, piece bool) {
	if s.fold {
		s.lower = lowered(s.lower, lines)
	}
	lower := s.lower
	for len(lines) > 0 {
		n := bytes.IndexByte(lines, '\n') + 1
		whole := n > 0
		if !whole {
			n = len(lines)
		}
		line := bytes.TrimRight(lines[:n], "\r\n")
		var low []byte
		if s.fold {
			low, lower = lower[:len(line)], lower[n:]
		}
		s.one(line, low)
		lines = lines[n:]
		if whole || !piece {
			s.number++
		}
	}
}

// one looks at one line, or at a piece of one that was not counted yet.
func (s *scan) one(line, lower []byte) {
	if s.lastHit == s.number {
		return
	}
	from, to, ok := s.find(line, lower)
	if !ok {
		s.around(line)
		return
	}
	s.matches++
	s.lastHit = s.number
	if s.matches > s.most {
		return
	}
	for _, l := range s.before {
		s.show(l)
	}
	s.before = s.before[:0]
	s.show(Line{Number: s.number, Text: excerpt(line, from, to), Match: true})
}

// around shows or keeps a line that did not match.
func (s *scan) around(line []byte) {
	if s.context == 0 || s.matches >= s.most && !s.following() {
		return
	}
	l := Line{Number: s.number, Text: excerpt(line, 0, 0)}
	if s.following() {
		s.show(l)
		return
	}
	if len(s.before) > 0 && s.before[len(s.before)-1].Number == l.Number {
		return
	}
	if len(s.before) == s.context {
		s.before = append(s.before[:0], s.before[1:]...)
	}
	s.before = append(s.before, l)
}

func (s *scan) show(l Line) {
	if l.Number == s.shown {
		return
	}
	l.Gap = s.context > 0 && s.shown > 0 && l.Number > s.shown+1
	s.shown = l.Number
	s.visit(l)
}

// excerpt is the part of a line that is shown: around what was found.
func excerpt(line []byte, from, to int) string {
	if len(line) <= maxLine {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	to = min(to, from+maxLine)
	start := max(0, from-(maxLine-(to-from))/2)
	end := min(len(line), start+maxLine)
	start = max(0, end-maxLine)
	text := strings.ToValidUTF8(string(line[start:end]), "\uFFFD")
	if start > 0 {
		text = "…" + text
	}
	if end < len(line) {
		text += "…"
	}
	return text
}

// lastLines is the end of a block that holds its last n lines, and how many
// line ends it holds.
func lastLines(block []byte, n int) (tail []byte, ends int) {
	at := len(block)
	if at > 0 && block[at-1] == '\n' {
		at--
	}
	for range n {
		if at = bytes.LastIndexByte(block[:at], '\n'); at < 0 {
			break
		}
	}
	tail = block[at+1:]
	return tail, bytes.Count(tail, []byte{'\n'})
}

// lowered makes ASCII letters small, into dst.
func lowered(dst, src []byte) []byte {
	dst = append(dst[:0], src...)
	for i, c := range dst {
		if 'A' <= c && c <= 'Z' {
			dst[i] = c + 'a' - 'A'
		}
	}
	return dst
}
