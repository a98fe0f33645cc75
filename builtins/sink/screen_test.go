package sink_test

import (
	"fmt"
	"strings"
	"testing"
)

// screen is a small terminal: it knows what Tree sends and nothing else. What
// scrolls off stands in lines too, above the part that can be redrawn.
type screen struct {
	t             *testing.T
	columns, rows int
	lines         [][]rune
	y, x          int
	wraps         bool
}

func newScreen(t *testing.T, columns, rows int) *screen {
	return &screen{t: t, columns: columns, rows: rows, wraps: true}
}

func (s *screen) size() (int, int) { return s.columns, s.rows }

// top is the first line that the cursor can reach.
func (s *screen) top() int { return max(0, len(s.lines)-s.rows) }

func (s *screen) Write(b []byte) (int, error) {
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
		r := []rune(text)[0]
		text = text[len(string(r)):]
		s.put(r)
	}
	return len(b), nil
}

func (s *screen) control(args string, command byte) {
	if command == 'J' && s.y == s.top() && len(s.lines) > s.y+1 {
		s.t.Fatal("the whole screen is cleared: tmux would keep it in its history")
	}
	switch command {
	case 'A':
		var n int
		fmt.Sscan(args, &n)
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

func (s *screen) put(r rune) {
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

// narrow makes the window narrower, as terminals do that break lines anew.
func (s *screen) narrow(columns int) {
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

func (s *screen) String() string {
	var b strings.Builder
	for _, line := range s.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}
