package tty

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// lineState tracks how much of a workflow command a line may contain:
//
//	::error file=x::text     GitHub Actions, at the start of a line
//	##[command]text          GitHub Actions and Azure Pipelines, anywhere
//	##vso[task.x]text        Azure Pipelines, anywhere
//	##teamcity[message ...]  TeamCity
//
// Runners skip blanks before a command, and compare text by rules that ignore
// invisible characters.
type lineState struct {
	inside bool // the line has something other than blanks
	colon  bool // the line so far is one colon
	hashes int  // number of hashes; after two, a name and a bracket may follow
}

// next consumes a character and reports whether a blank before it is needed to break
// up a command.
func (s *lineState) next(r rune) bool {
	if r == '\n' {
		*s = lineState{}
		return false
	}
	if unicode.In(r, unicode.Cf, unicode.Mn, unicode.Variation_Selector) {
		return false
	}
	apart := s.colon && r == ':' || s.hashes >= 2 && r == '['
	s.colon = !s.inside && r == ':'
	s.inside = s.inside || !unicode.IsSpace(r)
	switch {
	case r == '#':
		s.hashes++
	case s.hashes >= 2 && r != '[' && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-'):
	default:
		s.hashes = 0
	}
	return apart
}

// JSON returns JSON with the same value that is safe to show: characters in strings
// that Safe replaces are escaped, and if ci is set workflow commands are too.
func JSON(text []byte, ci bool) []byte {
	safe := !bytes.ContainsFunc(text, func(r rune) bool { return r != '\n' && mustReplace(r) })
	if safe && (!ci || !bytes.Contains(text, []byte("##"))) {
		return text
	}
	const escape = 0xffff
	out := make([]byte, 0, len(text)+64)
	hash := false
	for _, r := range string(text) {
		switch {
		case r != '\n' && mustReplace(r) && r > escape:
			r -= escape + 1
			out = appendEscape(appendEscape(out, 0xd800+r>>10), 0xdc00+r&0x3ff)
		case r != '\n' && mustReplace(r), ci && hash && r == '#':
			out = appendEscape(out, r)
		default:
			out = utf8.AppendRune(out, r)
		}
		hash = r == '#'
	}
	return out
}

// appendEscape appends \uXXXX.
func appendEscape(out []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(out, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
