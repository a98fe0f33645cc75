package dsl

import (
	"bytes"
	"fmt"
	"path/filepath"
)

// source is where text came from: a file, a flag, an environment variable, or
// a journal.
type source struct {
	name    string // as shown to people
	path    string // absolute; "" when it is no file
	text    []byte
	kind    sourceKind
	foreign bool   // it lies outside of the project, or was led to from there
	named   place  // where a text of its own file is named; nowhere for other files
	agent   string // the one of its agents that is meant; "" = the spec itself
	starts  []int  // offsets of the lines, made when first asked for
	last    int    // the line asked for last, and its text: a long line with
	shown   string // many mistakes is copied once
}

type sourceKind int

const (
	specFile sourceKind = iota
	includedFile
	extendedFile
	flagText
	envText
	resolved // the Source of a Program
)

// dir is the folder that relative paths in this source start from.
func (s *source) dir() string { return filepath.Dir(s.path) }

// whole is the path with the agent that is meant.
func (s *source) whole() string {
	if s.agent == "" {
		return s.path
	}
	return s.path + "#" + s.agent
}

// isFile says that it is a file of the spec, not a flag or a journal.
func (s *source) isFile() bool {
	return s.kind == specFile || s.kind == includedFile || s.kind == extendedFile
}

// line returns a line without its end; lines count from 1.
func (s *source) line(n int) string {
	from := s.lineStart(n)
	switch {
	case from < 0:
		return ""
	case n == s.last:
		return s.shown
	}
	rest := s.text[from:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	s.last, s.shown = n, string(bytes.TrimSuffix(rest, []byte("\r")))
	return s.shown
}

// lineStart is the offset of a line, or -1.
func (s *source) lineStart(n int) int {
	if s.starts == nil {
		s.starts = []int{0}
		for i, c := range s.text {
			if c == '\n' {
				s.starts = append(s.starts, i+1)
			}
		}
	}
	if n < 1 || n > len(s.starts) {
		return -1
	}
	return s.starts[n-1]
}

// place is a position in a source; the zero place is nowhere.
type place struct {
	src       *source
	line, col int
}

// is says whether two places are the same one.
func (p place) is(q place) bool {
	return p.src != nil && q.src != nil && p.src.path == q.src.path && p.line == q.line && p.col == q.col
}

// String is the place as diagnostics print it, file:line:column.
func (p place) String() string {
	switch {
	case p.src == nil:
		return "a default"
	case p.src.kind == resolved || p.line == 0:
		return p.src.name
	}
	return fmt.Sprintf("%s:%d:%d", p.src.name, p.line, p.col)
}

// offset is the byte offset of a place, or -1.
func (p place) offset() int {
	if p.src == nil {
		return -1
	}
	at := p.src.lineStart(p.line)
	if at < 0 {
		return -1
	}
	for col := 1; col < p.col && at < len(p.src.text) && p.src.text[at] != '\n'; col++ {
		at += runeLen(p.src.text[at:])
	}
	return at
}

// at is the place of a byte offset.
func (s *source) at(offset int) place {
	s.lineStart(1)
	lo, hi := 0, len(s.starts)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; s.starts[mid] <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	col := 1
	for i := s.starts[lo]; i < offset && i < len(s.text); i += runeLen(s.text[i:]) {
		col++
	}
	return place{s, lo + 1, col}
}
