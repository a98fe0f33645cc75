package ttytest

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// Screen is a small terminal that only supports the control sequences of a Canvas. It
// keeps lines that scroll off the screen.
type Screen struct {
	t             *testing.T
	columns, rows int
	lines         [][]rune
	y, x          int
	wraps         bool
}

// New returns an empty screen.
func New(t *testing.T, columns, rows int) *Screen {
	return &Screen{t: t, columns: columns, rows: rows, wraps: true}
}

// Size returns the size of the screen.
func (s *Screen) Size() (columns, rows int) { return s.columns, s.rows }

// Height returns the number of lines written.
func (s *Screen) Height() int { return len(s.lines) }

// top returns the first line that the cursor can reach.
func (s *Screen) top() int { return max(0, len(s.lines)-s.rows) }

// Write implements io.Writer.
func (s *Screen) Write(b []byte) (int, error) {
	text := string(b)
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexAny(rest, "AJKmhl")
			if end < 0 {
				s.t.Fatalf("an escape sequence that is not ours: %q", text)
			}
			s.control(rest[:end], rest[end])
			text = rest[end+1:]
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		text = text[n:]
		s.put(r)
	}
	return len(b), nil
}

func (s *Screen) control(args string, command byte) {
	if command == 'J' && s.y == s.top() && len(s.lines) > s.y+1 {
		s.t.Fatal("the whole screen is cleared: tmux would keep it in its history")
	}
	switch command {
	case 'A':
		n, err := strconv.Atoi(args)
		if err != nil {
			s.t.Fatalf("up by %q", args)
		}
		s.y = max(s.top(), s.y-n)
	case 'J':
		if s.y < len(s.lines) {
			s.lines[s.y] = s.lines[s.y][:min(s.x, len(s.lines[s.y]))]
			s.lines = s.lines[:s.y+min(s.x, 1)]
		}
	case 'K':
		if s.y < len(s.lines) {
			s.lines[s.y] = s.lines[s.y][:min(s.x, len(s.lines[s.y]))]
		}
	case 'h', 'l':
		if args != "?7" {
			s.t.Fatalf("mode %s", args)
		}
		s.wraps = command == 'h'
	}
}

func (s *Screen) put(r rune) {
	for len(s.lines) <= s.y {
		s.lines = append(s.lines, nil)
	}
	switch {
	case r == '\n':
		s.y, s.x = s.y+1, 0
	case r == '\r':
		s.x = 0
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		s.t.Fatalf("a control character: %q", r)
	default:
		if s.x >= s.columns {
			if !s.wraps {
				return
			}
			s.y, s.x = s.y+1, 0
			s.put(r)
			return
		}
		if s.x < len(s.lines[s.y]) {
			s.lines[s.y][s.x] = r
		} else {
			s.lines[s.y] = append(s.lines[s.y], r)
		}
		s.x++
	}
}

// Narrow makes the window narrower, like terminals that rewrap lines.
func (s *Screen) Narrow(columns int) {
	var lines [][]rune
	for _, line := range s.lines {
		for len(line) > columns {
			lines, line = append(lines, line[:columns]), line[columns:]
		}
		lines = append(lines, line)
	}
	s.y += len(lines) - len(s.lines)
	s.lines, s.columns = lines, columns
}

// String returns the text on the screen, without trailing blanks.
func (s *Screen) String() string {
	var b strings.Builder
	for _, line := range s.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}
