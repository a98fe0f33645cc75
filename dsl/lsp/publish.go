package lsp

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/text"
)

// publish sends the diagnostics of files to the client if they changed.
func (s *server) publish(paths []string) {
	slices.Sort(paths)
	s.publishMu.Lock() // keep reports in order: the last one is for the newest text
	defer s.publishMu.Unlock()
	for _, path := range slices.Compact(paths) {
		s.mu.Lock()
		p := s.diagnosticsOf(path)
		same := s.same(p)
		s.mu.Unlock()
		if same {
			continue
		}
		if err := s.rpc.Notify(context.Background(), "textDocument/publishDiagnostics", p); err != nil {
			return // the client disconnected
		}
	}
}

// same reports whether the client already has the diagnostics of a file, and
// records them. For an open document it gets every version.
func (s *server) same(p *publishParams) bool {
	text, err := json.Marshal(p)
	before := s.published[p.URI]
	if p.Version == nil && len(p.Diagnostics) == 0 {
		delete(s.published, p.URI)
		return before == ""
	}
	s.published[p.URI] = string(text)
	return err == nil && before == string(text)
}

// diagnosticsOf returns the diagnostics of a file from all specs that read it.
func (s *server) diagnosticsOf(path string) *publishParams {
	p := &publishParams{URI: uriOf(path), Diagnostics: []diagnostic{}}
	b := s.paths[path]
	var text *textIndex
	if b != nil {
		p.URI, p.Version, text = b.uri, &b.version, b.text
	} else if f := s.file(path); f != nil {
		text = f.text
	} else {
		text = newText("", s.inBytes)
	}
	var found diag.List
	for _, r := range s.roots {
		if b == nil && r.hidden {
			continue
		}
		for _, d := range r.found {
			if r.fileOf(d) == path {
				d.File = path
				found = append(found, d)
			}
		}
	}
	for _, d := range found.Sort() {
		p.Diagnostics = append(p.Diagnostics, s.diagnostic(text, d))
	}
	return p
}

func (s *server) diagnostic(text *textIndex, d diag.Diagnostic) diagnostic {
	out := diagnostic{
		Severity: 1, Code: string(d.Code), Source: "pexctl", Message: d.Message, Tags: tags[d.Code],
		CodeDescription: &codeLink{d.Code.URL()},
	}
	if d.Severity == diag.Warning {
		out.Severity = 2
	}
	if d.Hint != "" {
		out.Message += "\nhint: " + d.Hint
	}
	if d.Line == 0 {
		return out
	}
	at := text.at(d.Line, d.Column)
	from, to := wordAt(text, at)
	out.Range = text.span(from, to)
	if f := fixOf(text, at, d); f != nil {
		out.Data, _ = json.Marshal(f) // texts and numbers only, so it cannot fail
	}
	return out
}

// tags are the LSP tags of some codes: 1 is faded, 2 is struck out.
var tags = map[diag.Code][]int{
	diag.Unused: {1}, diag.UnusedIgnore: {1}, diag.NoEffect: {1}, diag.MissingGrant: {1}, diag.Deprecated: {2},
}

var (
	reference = text.Regexp(`^\$(?:\{[^{}\n]*\}|<[^<>\n]*>)`)
	quotedRun = text.Regexp(`^(?:"[^"\n]*"|'[^'\n]*')`)
	wordRun   = text.Regexp(`^[\pL\pN_$./*#-]+`)
)

// wordAt returns the range that a diagnostic underlines: the reference, quoted
// text or word that starts at a byte, or else the character.
func wordAt(text *textIndex, at int) (from, to int) {
	start, line := text.line(at)
	rest := line[min(at-start, len(line)):]
	for _, r := range []*regexp.Regexp{reference(), quotedRun(), wordRun()} {
		if m := r.FindString(rest); m != "" {
			return at, at + len(m)
		}
	}
	if rest == "" {
		return max(start, at-1), at
	}
	return at, at + len([]byte(string([]rune(rest)[:1])))
}

// wordFix is the replacement of a word.
type wordFix struct {
	Range span   `json:"range"`
	Word  string `json:"word"`
}

// fixOf returns the change that a diagnostic suggests, or nil.
func fixOf(text *textIndex, at int, d diag.Diagnostic) *wordFix {
	if d.Fix.New == "" || d.Fix.Old == d.Fix.New {
		return nil
	}
	start, line := text.line(at)
	rest := line[min(at-start, len(line)):]
	i := indexWord(rest, d.Fix.Old)
	if i < 0 {
		return nil
	}
	return &wordFix{text.span(at+i, at+i+len(d.Fix.Old)), d.Fix.New}
}

// indexWord returns the index of a whole word in a text, or -1.
func indexWord(s, word string) int {
	for from := 0; word != ""; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			break
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+len(word):])
		if !inWord(before) && !inWord(after) {
			return i
		}
		from = i + 1
	}
	return -1
}

func inWord(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
