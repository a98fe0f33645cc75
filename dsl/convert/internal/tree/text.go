package tree

import (
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/text"
)

// OneLine returns a text without line breaks and terminal control characters.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\ufffd'
	}), " ")
}

// Clip returns the beginning of a text, short enough for a message.
func Clip(s string) string {
	const longest = 40
	if r := []rune(s[:min(len(s), 4*longest)]); len(r) > longest {
		s = string(r[:longest]) + "..."
	}
	return OneLine(s)
}

// UseRedacted returns a text for humans or models, with secrets removed.
func (l *Log) UseRedacted(it *Value) string {
	s := it.UseText()
	hid := false
	for range 100 {
		seen := secret.FindWellKnown(s)
		if seen.Kind == "" {
			break
		}
		s, hid = strings.Replace(s, seen.Text, "[removed]", 1), true
	}
	if hid {
		l.Note(it, convert.Todo, "what looks like a key was taken out of it: no prompt should hold one")
	}
	return s
}

// AuthScheme matches what is before the credentials in a header.
var AuthScheme = text.Regexp(`(?i)^(bearer|basic|token|apikey)\s+`)

// PutModelSetting writes one of the model settings if the value is valid for it.
func PutModelSetting(out *Map, key, value string) bool {
	if key == "temperature" || key == "top_p" {
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || f < 0 || f > 2 || key == "top_p" && f > 1 {
			return false
		}
		out.Put(key, f)
		return true
	}
	n, err := strconv.Atoi(strings.TrimSuffix(value, ".0"))
	if err != nil || n < 1 || n > 1e9 {
		return false
	}
	out.Put(key, n)
	return true
}

// UserInfo matches the user information of a URL.
var UserInfo = text.Regexp(`(://)[^/?#\s@"]+@`)
