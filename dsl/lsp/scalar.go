package lsp

import (
	"strings"

	"github.com/pexctl/pex/engine/text"
)

var blockHeader = text.Regexp(`^[|>][-+0-9]*[ \t]*(?:#[^\n]*)?\r?(?:\n|$)`)

// scalar reads a text of any style; lines that belong to it begin right of the
// column.
func (o *outliner) scalar(n *node, column int) {
	switch c := o.s[o.at]; {
	case (c == '|' || c == '>') && blockHeader().MatchString(o.s[o.at:]):
		o.block(n, column)
	case c == '"' || c == '\'':
		o.quoted(n, column)
	default:
		o.plain(n, column)
	}
}

// block reads a literal or folded text.
func (o *outliner) block(n *node, column int) {
	n.style, n.from = o.s[o.at], o.at
	at := o.lineEnd(o.at)
	n.to = at
	for at < len(o.s) {
		at += strings.IndexByte(o.s[at:], '\n') + 1
		end := o.lineEnd(at)
		line := o.s[at:end]
		if rest := strings.TrimLeft(line, " "); rest != "" && len(line)-len(rest) <= column {
			break
		}
		n.to = end
		if strings.IndexByte(o.s[at:], '\n') < 0 {
			break
		}
		at = end
	}
	first := min(o.lineEnd(o.at)+1, n.to)
	n.text, o.at = o.s[first:n.to], n.to
}

// quoted reads a text between quotes; where they are not closed before the next
// line that belongs elsewhere, it is what stands on its line.
func (o *outliner) quoted(n *node, column int) {
	quote := o.s[o.at]
	n.style, n.from = quote, o.at
	end := o.closing(o.at, quote, column)
	if end < 0 {
		n.to = o.lineEnd(o.at)
		n.text, o.at = o.s[n.from+1:n.to], n.to
		return
	}
	n.to = end + 1
	n.text, o.at = o.s[n.from+1:end], o.lineEnd(end)
	if quote == '\'' {
		n.text = strings.ReplaceAll(n.text, "''", "'")
	}
}

// closing is the offset of the quote that closes the one at a byte, or -1.
func (o *outliner) closing(at int, quote byte, column int) int {
	for i := at + 1; i < len(o.s); i++ {
		switch c := o.s[i]; {
		case c == '\\' && quote == '"':
			i++
		case c == quote && quote == '\'' && i+1 < len(o.s) && o.s[i+1] == '\'':
			i++
		case c == quote:
			return i
		case c == '\n':
			rest := strings.TrimLeft(o.s[i+1:o.lineEnd(i+1)], " ")
			if rest != "" && o.lineEnd(i+1)-(i+1)-len(rest) <= column {
				return -1
			}
		}
	}
	return -1
}

// plain reads a text without quotes: the line without its comment, and lines
// below it that are deeper and no keys.
func (o *outliner) plain(n *node, column int) {
	n.from, n.to = o.at, o.uncommented(o.at)
	var text strings.Builder
	text.WriteString(o.s[n.from:n.to])
	defer func() { n.text = text.String() }()
	o.at = o.lineEnd(o.at)
	if strings.Contains(o.s[n.to:o.at], "#") {
		return
	}
	for {
		at := o.at
		for at < len(o.s) && strings.IndexByte(" \t\r\n", o.s[at]) >= 0 {
			at++
		}
		if at >= len(o.s) || o.column(at) <= column || o.s[at] == '#' || o.key(at) >= 0 || o.s[at] == '-' && o.endsWord(at+1) {
			return
		}
		n.to = o.uncommented(at)
		text.WriteByte(' ')
		text.WriteString(o.s[at:n.to])
		o.at = o.lineEnd(at)
	}
}

// uncommented is the end of what stands on a line before its comment.
func (o *outliner) uncommented(at int) int {
	line := o.s[at:o.lineEnd(at)]
	if i := strings.Index(line, " #"); i >= 0 {
		line = line[:i]
	}
	return at + len(strings.TrimRight(line, " \t"))
}
