package tree

import (
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/text"
)

// OneLine is a text without what breaks a line or steers a terminal.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == '\ufffd'
	}), " ")
}

// Clip is the begin of a text, fit for a message.
func Clip(s string) string {
	const longest = 40
	if r := []rune(s[:min(len(s), 4*longest)]); len(r) > longest {
		s = string(r[:longest]) + "..."
	}
	return OneLine(s)
}

// UseRedacted is a text for people or models. A key that is in it is not taken over.
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

// PutModelSetting writes one of them where the value is one that it can have.
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

// UserInfo is what an address holds before its host.
var UserInfo = text.Regexp(`(://)[^/?#\s@"]+@`)
