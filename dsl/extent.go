package dsl

import (
	"slices"
	"strings"
)

// end is the column behind what stands at a place: a text in quotes, a
// reference, else a word; 0 = nothing stands there.
func (p place) end() int {
	line := []rune(p.src.line(p.line))
	if p.line < 1 || p.col < 1 || p.col > len(line) {
		return 0
	}
	return p.col + extent(line[p.col-1:])
}

// extent is the length of what a text begins with, in characters.
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

// inQuotes is the length of a text in quotes, as far as it is in one line.
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
