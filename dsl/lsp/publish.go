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

// publish sends the client the diagnostics of files, where that has changed.
func (s *server) publish(paths []string) {
	slices.Sort(paths)
	s.publishMu.Lock() // the last report is of the newest text
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
			return // the client has gone
		}
	}
}

// same says whether the client knows already what there is to report for a file,
// and keeps it. Of an open document it gets every version.
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

// diagnosticsOf is what there is to report for a file: what all that read it found in it.
func (s *server) diagnosticsOf(path string) *publishParams {
	p := &publishParams{URI: uriOf(path), Diagnostics: []diagnostic{}}
	b := s.paths[path]
	var text *textOf
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

func (s *server) diagnostic(text *textOf, d diag.Diagnostic) diagnostic {
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
		out.Data, _ = json.Marshal(f) // it holds texts and numbers alone
	}
	return out
}

// tags are how editors show some codes: 1 = faded, 2 = struck out.
var tags = map[diag.Code][]int{
	diag.Unused: {1}, diag.UnusedIgnore: {1}, diag.NoEffect: {1}, diag.MissingGrant: {1}, diag.Deprecated: {2},
}

var (
	reference = text.Regexp(`^\$(?:\{[^{}\n]*\}|<[^<>\n]*>)`)
	quotedRun = text.Regexp(`^(?:"[^"\n]*"|'[^'\n]*')`)
	wordRun   = text.Regexp(`^[\pL\pN_$./*#-]+`)
)

// wordAt is what a diagnostic underlines: the reference, quoted text or word
// that begins at a byte, else the character.
func wordAt(text *textOf, at int) (from, to int) {
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

// fix is a word that is put in the place of another.
type fix struct {
	Range span   `json:"range"`
	Word  string `json:"word"`
}

// fixOf is the change that a diagnostic suggests, or nil.
func fixOf(text *textOf, at int, d diag.Diagnostic) *fix {
	if d.Fix.New == "" || d.Fix.Old == d.Fix.New {
		return nil
	}
	start, line := text.line(at)
	rest := line[min(at-start, len(line)):]
	i := indexWord(rest, d.Fix.Old)
	if i < 0 {
		return nil
	}
	return &fix{text.span(at+i, at+i+len(d.Fix.Old)), d.Fix.New}
}

// indexWord is where a word is in a text, but not as a part of a longer one; -1
// = nowhere.
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
