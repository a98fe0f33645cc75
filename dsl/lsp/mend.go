package lsp

import (
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/text"
)

var ignoreCodes = text.Regexp(`#\s*pex:ignore(?:-file)?[ \t:]+(PEX\d+(?:[ \t]*,[ \t]*PEX\d+)*)`)

// unignored is the change that takes out of a comment a code that ignores
// nothing: of its last code the whole comment goes, with its line where it stands
// alone.
func unignored(b *buffer, d diagnostic) (textEdit, bool) {
	if d.Code != string(diag.UnusedIgnore) {
		return textEdit{}, false
	}
	at := b.text.offset(d.Range.Start)
	start, line := b.text.line(at)
	m := ignoreCodes().FindStringSubmatchIndex(line)
	if m == nil || at-start < m[2] || at-start >= m[3] {
		return textEdit{}, false
	}
	codes := line[m[2]:m[3]]
	if !strings.Contains(codes, ",") {
		before := strings.TrimRight(line[:m[0]], " \t")
		if next := b.text.lineOf(at) + 1; before == "" && next < len(b.text.starts) {
			return textEdit{b.text.span(start, b.text.starts[next]), ""}, true
		}
		return textEdit{b.text.span(start+len(before), start+len(line)), ""}, true
	}
	word := codeName().FindString(line[at-start:])
	from, to := at, at+len(word)
	rest := line[to-start : m[3]]
	if next := strings.TrimLeft(rest, " \t,"); next != "" {
		to += len(rest) - len(next)
	} else {
		from = start + len(strings.TrimRight(line[:at-start], " \t,"))
	}
	return textEdit{b.text.span(from, to), ""}, true
}
