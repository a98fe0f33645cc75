package lsp

import (
	"net/url"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/text"
)

// textIndex is a text with its lines, for converting positions. It is immutable.
type textIndex struct {
	s      string
	starts []int // offsets of the lines, which end in \n, \r\n or \r
	utf8   bool  // positions count bytes, otherwise UTF-16 units
}

func newText(s string, inBytes bool) *textIndex {
	t := &textIndex{s: s, starts: []int{0}, utf8: inBytes}
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' || s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n') {
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// offset returns the byte offset of a position. Positions after a line's end
// become its end, those within a character its start.
func (t *textIndex) offset(p position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.starts) {
		return len(t.s)
	}
	at, end := t.starts[p.Line], t.lineEnd(p.Line)
	for units := 0; at < end; {
		r, n := utf8.DecodeRuneInString(t.s[at:])
		if units += t.units(r, n); units > p.Character {
			break
		}
		at += n
	}
	return at
}

// units returns how many units of a position a character takes.
func (t *textIndex) units(r rune, n int) int {
	switch {
	case t.utf8:
		return n
	case r >= 0x10000:
		return 2
	}
	return 1
}

// lineEnd returns the offset of a line's end, without its line break.
func (t *textIndex) lineEnd(line int) int {
	end := len(t.s)
	if line+1 < len(t.starts) {
		end = t.starts[line+1]
	}
	return t.starts[line] + len(strings.TrimRight(t.s[t.starts[line]:end], "\r\n"))
}

// position returns the position of a byte.
func (t *textIndex) position(offset int) position {
	offset = max(0, min(offset, len(t.s)))
	line := t.lineOf(offset)
	p := position{Line: line}
	for at := t.starts[line]; at < offset; {
		r, n := utf8.DecodeRuneInString(t.s[at:])
		p.Character += t.units(r, n)
		at += n
	}
	return p
}

// lineOf returns the number of the line that contains a byte, from 0.
func (t *textIndex) lineOf(offset int) int {
	return sort.SearchInts(t.starts, offset+1) - 1
}

func (t *textIndex) span(from, to int) span { return span{t.position(from), t.position(to)} }

// line returns the text of the line that contains a byte.
func (t *textIndex) line(offset int) (from int, line string) {
	n := t.lineOf(offset)
	return t.starts[n], t.s[t.starts[n]:t.lineEnd(n)]
}

// at returns the byte of a place in a diagnostic: lines end in \n and columns are
// characters, both from 1.
func (t *textIndex) at(line, column int) int {
	at := 0
	for range line - 1 {
		i := strings.IndexByte(t.s[at:], '\n')
		if i < 0 {
			return len(t.s)
		}
		at += i + 1
	}
	for ; column > 1 && at < len(t.s) && t.s[at] != '\n'; column-- {
		_, n := utf8.DecodeRuneInString(t.s[at:])
		at += n
	}
	return at
}

// changed returns the text with a part replaced; a nil range is the whole text.
func (t *textIndex) changed(where *span, with string) *textIndex {
	if where == nil {
		return newText(with, t.utf8)
	}
	from, to := t.offset(where.Start), t.offset(where.End)
	if to < from {
		from, to = to, from
	}
	return newText(t.s[:from]+with+t.s[to:], t.utf8)
}

var drive = text.Regexp(`^/[A-Za-z]:`)

// pathOf returns the absolute path of a file's URI, or "" if it is not a file.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" || strings.ContainsRune(u.Path, 0) {
		return ""
	}
	path := u.Path
	if u.Host != "" && u.Host != "localhost" {
		path = "//" + u.Host + path
	}
	if drive().MatchString(path) && filepath.Separator == '\\' {
		path = path[1:]
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// uriOf returns the URI of an absolute path.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// resolveLinks resolves links in a path's folder, in the form in which the compiler reads
// it.
func resolveLinks(path string) string {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}
