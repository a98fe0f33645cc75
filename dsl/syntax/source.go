package syntax

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
)

// Source is a text with its origin: a file, a flag, an environment variable, or a
// journal.
type Source struct {
	Name    string // as shown to users
	Path    string // absolute; "" if it is not a file
	Text    []byte
	Kind    SourceKind
	Foreign bool     // it is outside the project, or named by a file outside
	NamedAt Position // for the text of a separate file, the place that names it; otherwise zero
	Agent   string   // the agent of the file; "" for the spec itself
	starts  []int    // offsets of the lines, computed on first use
	last    int      // the last requested line and its text, cached
	shown   string   // for many mistakes on one long line
}

// SourceKind is the kind of a source.
type SourceKind int

// Kinds of sources.
const (
	SpecFile SourceKind = iota
	IncludedFile
	ExtendedFile
	Flag
	Environment
	Resolved // the Source of a Program
	Edited   // a text that replaces a prompt
)

// Dir returns the folder of relative paths in this source.
func (s *Source) Dir() string { return filepath.Dir(s.Path) }

// PathWithAgent returns the path with the agent.
func (s *Source) PathWithAgent() string {
	if s.Agent == "" {
		return s.Path
	}
	return s.Path + "#" + s.Agent
}

// IsFile reports whether it is a file of the spec, not a flag or a journal.
func (s *Source) IsFile() bool {
	return s.Kind == SpecFile || s.Kind == IncludedFile || s.Kind == ExtendedFile
}

// line returns a line without its line end. Lines count from 1.
func (s *Source) line(n int) string {
	from := s.lineStart(n)
	switch {
	case from < 0:
		return ""
	case n == s.last:
		return s.shown
	}
	rest := s.Text[from:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	s.last, s.shown = n, string(bytes.TrimSuffix(rest, []byte("\r")))
	return s.shown
}

// lineStart returns the offset of a line, or -1.
func (s *Source) lineStart(n int) int {
	if s.starts == nil {
		s.starts = []int{0}
		for i, c := range s.Text {
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

// Position is a position in a source. The zero Position is nowhere.
type Position struct {
	Source       *Source
	Line, Column int
}

// Same reports whether two positions are equal.
func (p Position) Same(q Position) bool {
	return p.Source != nil && q.Source != nil && p.Source.Path == q.Source.Path && p.Line == q.Line && p.Column == q.Column
}

// String returns the position in the form of diagnostics, file:line:column.
func (p Position) String() string {
	switch {
	case p.Source == nil:
		return "a default"
	case p.Source.Kind == Resolved || p.Line == 0:
		return p.Source.Name
	}
	return fmt.Sprintf("%s:%d:%d", p.Source.Name, p.Line, p.Column)
}

// offset returns the byte offset of a position, or -1.
func (p Position) offset() int {
	if p.Source == nil {
		return -1
	}
	at := p.Source.lineStart(p.Line)
	if at < 0 {
		return -1
	}
	for col := 1; col < p.Column && at < len(p.Source.Text) && p.Source.Text[at] != '\n'; col++ {
		at += runeLen(p.Source.Text[at:])
	}
	return at
}

// PositionAt returns the position of a byte offset.
func (s *Source) PositionAt(offset int) Position {
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
	for i := s.starts[lo]; i < offset && i < len(s.Text); i += runeLen(s.Text[i:]) {
		col++
	}
	return Position{s, lo + 1, col}
}

// Foreign reports whether a position is in a file from outside the project.
func (p Position) Foreign() bool { return p.Source != nil && p.Source.Foreign }

// Where formats a position for a message.
func Where(p Position) string {
	switch {
	case p.Source == nil:
		return "nowhere"
	case p.Source.Kind == Flag || p.Source.Kind == Environment || p.Line == 0:
		return p.Source.Name
	}
	return p.Source.Name + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
}
