package outline

import (
	"strings"

	"github.com/pexctl/pex/engine/text"
)

var blockHeader = text.Regexp(`^[|>][-+0-9]*[ \t]*(?:#[^\n]*)?\r?(?:\n|$)`)

// scalar parses a text of any style. Its further lines start right of the column.
func (o *outliner) scalar(n *Node, column int) {
	switch c := o.s[o.at]; {
	case (c == '|' || c == '>') && blockHeader().MatchString(o.s[o.at:]):
		o.block(n, column)
	case c == '"' || c == '\'':
		o.quoted(n, column)
	default:
		o.plain(n, column)
	}
}

// block parses a literal or folded text.
func (o *outliner) block(n *Node, column int) {
	n.Style, n.From = o.s[o.at], o.at
	at := o.lineEnd(o.at)
	n.To = at
	for at < len(o.s) {
		at += strings.IndexByte(o.s[at:], '\n') + 1
		end := o.lineEnd(at)
		line := o.s[at:end]
		if rest := strings.TrimLeft(line, " "); rest != "" && len(line)-len(rest) <= column {
			break
		}
		n.To = end
		if strings.IndexByte(o.s[at:], '\n') < 0 {
			break
		}
		at = end
	}
	first := min(o.lineEnd(o.at)+1, n.To)
	n.Text, o.at = o.s[first:n.To], n.To
}

// quoted parses a quoted text. If it is not closed before the next line that does
// not belong to it, it ends with its line.
func (o *outliner) quoted(n *Node, column int) {
	quote := o.s[o.at]
	n.Style, n.From = quote, o.at
	end := o.closing(o.at, quote, column)
	if end < 0 {
		n.To = o.lineEnd(o.at)
		n.Text, o.at = o.s[n.From+1:n.To], n.To
		return
	}
	n.To = end + 1
	n.Text, o.at = o.s[n.From+1:end], o.lineEnd(end)
	if quote == '\'' {
		n.Text = strings.ReplaceAll(n.Text, "''", "'")
	}
}

// closing returns the offset of the quote that closes the one at a byte, or -1.
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

// plain parses a plain scalar: the line without its comment, and deeper lines
// below it that are not keys.
func (o *outliner) plain(n *Node, column int) {
	n.From, n.To = o.at, o.uncommented(o.at)
	var text strings.Builder
	text.WriteString(o.s[n.From:n.To])
	defer func() { n.Text = text.String() }()
	o.at = o.lineEnd(o.at)
	if strings.Contains(o.s[n.To:o.at], "#") {
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
		n.To = o.uncommented(at)
		text.WriteByte(' ')
		text.WriteString(o.s[at:n.To])
		o.at = o.lineEnd(at)
	}
}

// uncommented returns the end of a line without its comment.
func (o *outliner) uncommented(at int) int {
	line := o.s[at:o.lineEnd(at)]
	if i := strings.Index(line, " #"); i >= 0 {
		line = line[:i]
	}
	return at + len(strings.TrimRight(line, " \t"))
}
