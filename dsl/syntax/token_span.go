package syntax

import (
	"bytes"
	"slices"
	"strings"
)

// end returns the column after the token at a position: a quoted text, a
// reference, or else a word; 0 if there is none. excerpt is the part of the line
// that starts at column from.
func (p Position) end(excerpt string, from int) int {
	line, at := []rune(excerpt), p.Column-from
	if p.Line < 1 || at < 0 || at >= len(line) {
		return 0
	}
	return p.Column + extent(line[at:])
}

// A line of more than maxExcerpt bytes is shortened to the text around the
// position.
const (
	maxExcerpt    = 8 << 10
	beforeExcerpt = 2 << 10
)

// excerpt returns the line of a position, and the column at which the excerpt of
// a long line starts, otherwise 1.
func (p Position) excerpt() (text string, from int) {
	at := p.Source.lineStart(p.Line)
	if at < 0 {
		return "", 1
	}
	end := len(p.Source.Text)
	if p.Line < len(p.Source.starts) {
		end = p.Source.starts[p.Line] - 1
	}
	line := bytes.TrimSuffix(p.Source.Text[at:max(at, end)], []byte("\n"))
	if len(line) <= maxExcerpt {
		return p.Source.line(p.Line), 1
	}
	start, from := 0, 1
	for from < p.Column-beforeExcerpt && start < len(line) {
		start += runeLen(line[start:])
		from++
	}
	line = line[start:]
	return strings.ToValidUTF8(string(line[:min(len(line), maxExcerpt)]), ""), from
}

// extent returns the length of the token at the start of a text, in characters.
func extent(text []rune) int {
	switch first := text[0]; {
	case first == '"' || first == '\'':
		return inQuotes(text, first)
	case first == '$' && len(text) > 1 && (text[1] == '{' || text[1] == '<'):
		if i := slices.Index(text, map[rune]rune{'{': '}', '<': '>'}[text[1]]); i > 0 {
			return i + 1
		}
	}
	for i, r := range text {
		if strings.ContainsRune(" \t,[]{}\"'", r) || r == ':' && (i+1 == len(text) || text[i+1] == ' ') {
			return max(i, 1)
		}
	}
	return len(text)
}

// inQuotes returns the length of a quoted text, up to the end of the line.
func inQuotes(text []rune, quote rune) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}
