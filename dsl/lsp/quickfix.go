package lsp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/lsp/outline"
	"github.com/pexctl/pex/engine/text"
)

// formatting returns the edit that formats a document.
func (s *server) formatting(_ context.Context, p *atPosition) (any, error) {
	s.mu.Lock()
	b := s.buffers[p.TextDocument.URI]
	s.mu.Unlock()
	if b == nil || !b.spec() {
		return []textEdit{}, nil
	}
	before := b.text.s
	formatted, _ := dsl.Format([]byte(before))
	after := string(formatted)
	if before == after {
		return []textEdit{}, nil
	}
	from := commonLines(before, after)
	to := commonEnd(before[from:], after[from:])
	return []textEdit{{b.text.span(from, len(before)-to), after[from : len(after)-to]}}, nil
}

// commonLines returns the length of the lines that two texts have in common at
// the start.
func commonLines(a, b string) int {
	n := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '\n' {
			n = i + 1
		}
	}
	return n
}

// commonEnd returns the length of the lines that two texts have in common at the
// end.
func commonEnd(a, b string) int {
	n := 0
	for i := 1; i <= len(a) && i <= len(b) && a[len(a)-i] == b[len(b)-i]; i++ {
		if i < len(a) && i < len(b) && a[len(a)-i-1] == '\n' && b[len(b)-i-1] == '\n' {
			n = i
		}
	}
	return n
}

// actions offers fixes and ignore comments for the diagnostics of a range.
func (s *server) actions(_ context.Context, p *actionParams) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buffers[p.TextDocument.URI]
	out := []codeAction{}
	if b == nil {
		return out, nil
	}
	for _, d := range p.Context.Diagnostics {
		if d.Source != "pexctl" {
			continue
		}
		var f wordFix
		if json.Unmarshal(d.Data, &f) == nil && f.Word != "" {
			out = append(out, codeAction{
				Title: "Change to " + f.Word, Kind: "quickfix", Diagnostics: []diagnostic{d}, IsPreferred: true,
				Edit: workspaceEdit{map[string][]textEdit{b.uri: {{f.Range, f.Word}}}},
			})
		}
		if edit, ok := removeIgnore(b, d); ok {
			out = append(out, codeAction{
				Title: "Remove unused pex:ignore", Kind: "quickfix", Diagnostics: []diagnostic{d}, IsPreferred: true,
				Edit: workspaceEdit{map[string][]textEdit{b.uri: {edit}}},
			})
			continue // such a warning cannot be ignored
		}
		if edit, ok := ignoreComment(b, d); ok {
			out = append(out, codeAction{
				Title: "Ignore this warning (" + d.Code + ")", Kind: "quickfix", Diagnostics: []diagnostic{d},
				Edit: workspaceEdit{map[string][]textEdit{b.uri: {edit}}},
			})
		}
	}
	return out, nil
}

// ignoreComment returns the comment above a line that suppresses a warning there;
// the author adds the reason. Texts that span several lines cannot contain
// comments.
func ignoreComment(b *buffer, d diagnostic) (textEdit, bool) {
	about := d.Code == string(diag.BadIgnore) || d.Code == string(diag.UnusedIgnore) // such comments
	if d.Severity != 2 || about || !b.spec() {
		return textEdit{}, false
	}
	at := b.text.offset(position{Line: d.Range.Start.Line})
	start, line := b.text.line(at)
	if n := b.outline().Find(start); n != nil && n.Kind == outline.Scalar && n.From < start && start <= n.To && strings.Contains(b.text.s[n.From:n.To], "\n") {
		return textEdit{}, false
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	return textEdit{b.text.span(start, start), indent + "# pex:ignore " + d.Code + " reason\n"}, true
}

var ignoreCodes = text.Regexp(`#\s*pex:ignore(?:-file)?[ \t:]+(PEX\d+(?:[ \t]*,[ \t]*PEX\d+)*)`)

// removeIgnore removes a code that suppresses nothing from a comment. With the
// last code it removes the whole comment, and the line if nothing else is on it.
func removeIgnore(b *buffer, d diagnostic) (textEdit, bool) {
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
