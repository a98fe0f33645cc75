package grep

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
)

const (
	blockSize = 256 << 10 // bytes per read; longer lines are searched in pieces
	maxLine   = 400       // bytes of a line to show
	sniffSize = 8 << 10   // bytes used to distinguish text from binary
)

// ErrBinary is returned for a stream that is not text.
var ErrBinary = errors.New("not a text file")

// Line is a line to show.
type Line struct {
	Number int
	Text   string // valid UTF-8, truncated around the match if long
	Match  bool   // false for a context line
	Gap    bool   // with context: lines before this one were omitted
}

// Scan reads to the end and counts the matching lines. It passes the first most of them,
// with their context lines, to visit in order. Memory use does not grow with the stream.
// The error is that of ctx or the reader, or ErrBinary.
func (m *Matcher) Scan(ctx context.Context, r io.Reader, most int, visit func(Line)) (matches int, err error) {
	s := scan{Matcher: m, maxLines: most, visit: visit, next: 1, lastHit: -1}
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
		if first && bytes.IndexByte(block[:min(len(block), sniffSize)], 0) >= 0 {
			return 0, ErrBinary
		}
		first = false
		kept = copy(buf, s.searchBlock(block, ended))
	}
	return s.matches, nil
}

// scan is the state of one Scan.
type scan struct {
	*Matcher
	maxLines  int
	visit     func(Line)
	lower     []byte
	next      int // number of the next line
	matches   int
	lastHit   int // number of the last matching line
	lastShown int // number of the last line shown
	before    []Line
}

// searchBlock searches the complete lines of a block and returns the rest, which belongs to the
// next block. An over-long line is searched in pieces.
func (s *scan) searchBlock(block []byte, ended bool) (rest []byte) {
	end, piece := bytes.LastIndexByte(block, '\n')+1, false
	switch {
	case ended:
		end = len(block)
	case end == 0:
		end, piece = len(block), true
	}
	lines := block[:end]
	if !s.skipLines(lines, piece) {
		s.searchLines(lines, piece)
	}
	if piece {
		return block[len(block)-s.overlap():]
	}
	return block[end:]
}

// skipLines skips lines if none of them can match. It reports whether it did.
func (s *scan) skipLines(lines []byte, piece bool) bool {
	if s.ignoreCase {
		s.lower = toLower(s.lower, lines)
	}
	if s.inContext() || s.mayMatch(lines, s.lower) {
		return false
	}
	n := bytes.Count(lines, []byte{'\n'})
	if s.context > 0 && !piece {
		tail, skipped := lastLines(lines, s.context)
		s.next += n - skipped
		s.searchLines(tail, false)
		return true
	}
	s.next += n
	return true
}

// inContext reports whether the next line is shown as context.
func (s *scan) inContext() bool {
	return s.lastHit >= 0 && s.matches <= s.maxLines && s.next <= s.lastHit+s.context
}

// searchLines searches every line.
func (s *scan) searchLines(lines []byte, piece bool) {
	if s.ignoreCase {
		s.lower = toLower(s.lower, lines)
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
		if s.ignoreCase {
			low, lower = lower[:len(line)], lower[n:]
		}
		s.searchLine(line, low)
		lines = lines[n:]
		if whole || !piece {
			s.next++
		}
	}
}

// searchLine searches a line, or a piece of a line that has not been counted.
func (s *scan) searchLine(line, lower []byte) {
	if s.lastHit == s.next {
		return
	}
	from, to, ok := s.find(line, lower)
	if !ok {
		s.addContext(line)
		return
	}
	s.matches++
	s.lastHit = s.next
	if s.matches > s.maxLines {
		return
	}
	for _, l := range s.before {
		s.show(l)
	}
	s.before = s.before[:0]
	s.show(Line{Number: s.next, Text: excerpt(line, from, to), Match: true})
}

// addContext shows or stores a line that did not match.
func (s *scan) addContext(line []byte) {
	if s.context == 0 || s.matches >= s.maxLines && !s.inContext() {
		return
	}
	l := Line{Number: s.next, Text: excerpt(line, 0, 0)}
	if s.inContext() {
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
	if l.Number == s.lastShown {
		return
	}
	l.Gap = s.context > 0 && s.lastShown > 0 && l.Number > s.lastShown+1
	s.lastShown = l.Number
	s.visit(l)
}

// excerpt returns the part of a line to show, around the match.
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

// lastLines returns the last n lines of a block and the number of its line breaks.
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

// toLower appends src to dst with ASCII letters in lower case.
func toLower(dst, src []byte) []byte {
	dst = append(dst[:0], src...)
	for i, c := range dst {
		if 'A' <= c && c <= 'Z' {
			dst[i] = c + 'a' - 'A'
		}
	}
	return dst
}
