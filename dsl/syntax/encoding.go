package syntax

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/diag"
)

// readable reports a file that is not UTF-8, or that is indented with other white
// space than spaces. It reports only the first place, because the parser's
// messages for such a file would be misleading.
func readable(src *Source, r *Report) bool {
	if name := wideEncoding(src.Text); name != "" {
		r.Error(diag.Syntax, Position{src, 1, 1}, "the file is encoded as %s; a spec must be UTF-8", name).
			Hint = "convert it: iconv -f " + name + " -t UTF-8 " + src.Name + " > utf8.yaml"
		return false
	}
	if at := invalidByte(src.Text); at >= 0 {
		r.Error(diag.Syntax, src.PositionAt(at), "invalid UTF-8: byte 0x%02X", src.Text[at]).
			Hint = "save the file as UTF-8; to convert it from Latin-1 or Windows-1252: iconv -f WINDOWS-1252 -t UTF-8 " + src.Name + " > utf8.yaml"
		return false
	}
	if at, blank := oddIndent(src.Text); at >= 0 {
		r.Error(diag.Syntax, src.PositionAt(at), "the line is indented with %s; YAML allows only ordinary spaces", blankName(blank)).
			Hint = "replace it with spaces; text copied from a web page or a document often contains such characters"
		return false
	}
	return true
}

// wideEncoding returns the encoding of a text whose characters have two or four
// bytes, by its byte order mark or by the zeros of its first character, or "" for
// other texts.
func wideEncoding(text []byte) string {
	marks := []struct{ mark, name string }{
		{"\xff\xfe\x00\x00", "UTF-32LE"},
		{"\x00\x00\xfe\xff", "UTF-32BE"},
		{"\xff\xfe", "UTF-16LE"},
		{"\xfe\xff", "UTF-16BE"},
	}
	for _, m := range marks {
		if bytes.HasPrefix(text, []byte(m.mark)) {
			return m.name
		}
	}
	zero := func(i int) bool { return i < len(text) && text[i] == 0 }
	switch {
	case zero(0) && zero(1) && zero(2) && !zero(3) && len(text) > 3:
		return "UTF-32BE"
	case zero(1) && zero(2) && zero(3) && !zero(0):
		return "UTF-32LE"
	case zero(0) && !zero(1) && zero(2):
		return "UTF-16BE"
	case zero(1) && !zero(0) && zero(3):
		return "UTF-16LE"
	}
	return ""
}

// invalidByte returns the offset of the first byte that is not valid UTF-8, or
// -1.
func invalidByte(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; i < len(text); {
		char, n := utf8.DecodeRune(text[i:])
		if char == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// oddIndent returns the offset of a key or list item that is indented with other
// white space than spaces, outside quotes and block scalars, or -1.
func oddIndent(text []byte) (offset int, blank rune) {
	if bytes.IndexFunc(text, isOddSpace) < 0 {
		return -1, 0
	}
	s := scanner{src: text}
	for s.i < len(text) && s.why == "" {
		start := s.i
		line, _, _ := bytes.Cut(text[start:], []byte("\n"))
		indent := line[:len(line)-len(bytes.TrimLeftFunc(line, func(c rune) bool { return c == ' ' || isOddSpace(c) }))]
		if i := bytes.IndexFunc(indent, isOddSpace); i >= 0 && structural(string(line[len(indent):])) {
			blank, _ = utf8.DecodeRune(indent[i:])
			return start + i, blank
		}
		s.line()
	}
	return -1, 0
}

// isOddSpace reports whether a character looks like a space but is not one.
func isOddSpace(c rune) bool { return c > 0x7f && unicode.Is(unicode.Zs, c) }

// structural reports whether a line has a key or starts a list item.
func structural(line string) bool {
	line = strings.TrimRight(line, " \r")
	return strings.HasPrefix(line, "- ") || strings.HasSuffix(line, ":") || strings.Contains(line, ": ")
}

func blankName(c rune) string {
	if c == 0xa0 {
		return "a no-break space (U+00A0)"
	}
	return fmt.Sprintf("the space character U+%04X", c)
}
