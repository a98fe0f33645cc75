package secret

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Byte classes for withoutGaps: kept bytes, bytes that programs insert between characters
// (they wrap base64 at 76 columns, fold lines, and space hex digits), and bytes that may
// start a longer gap.
const (
	stays = iota
	isGap
	mayBeGap
)

var class = [256]uint8{' ': isGap, '\t': isGap, '\n': isGap, '\r': isGap, '\\': mayBeGap, '=': mayBeGap}

// withoutGaps returns a text without gaps. In undecoded JSON these include \n, \r and \t,
// and = may start a soft line break of quoted-printable. places, if not nil, receives the
// offset of each kept byte, and of the end.
func withoutGaps(s string, places *[]int) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch class[s[i]] {
		case isGap:
			continue
		case mayBeGap:
			if length := gapAt(s[i:]); length > 0 {
				i += length - 1
				continue
			}
		}
		if places != nil {
			*places = append(*places, i)
		}
		out = append(out, s[i])
	}
	if places != nil {
		*places = append(*places, len(s))
	}
	return string(out)
}

// gapAt returns the length of a gap that starts with a backslash or equals sign.
func gapAt[T haystack](s T) int {
	switch {
	case len(s) < 2:
		return 0
	case s[0] == '\\' && (s[1] == 'n' || s[1] == 'r' || s[1] == 't'):
		return 2
	case s[0] == '=' && (s[1] == '\n' || s[1] == '\r'):
		return 1
	case s[0] == '=' && s[1] == '\\' && gapAt(s[1:]) > 0:
		return 1
	}
	return 0
}

// gapForms returns the encodings of a value to search in a text without gaps.
func gapForms(value string) []string {
	out := []string{withoutGaps(value, nil)}
	digits := hex.EncodeToString([]byte(value))
	out = append(out, digits, strings.ToUpper(digits))
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for shift := range 3 {
			out = append(out, base64Within(encoding, value, shift))
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(form string) bool { return len(form) < Shortest })
}

// escaped returns a value with each byte, or each character, as an escape.
func escaped(value string) []string {
	forms := make([]strings.Builder, 8)
	for i := range len(value) {
		for n, format := range []string{"%%%02X", "%%%02x", `\x%02x`, `\x%02X`, `\%03o`} {
			fmt.Fprintf(&forms[n], format, value[i])
		}
	}
	for _, r := range value {
		fmt.Fprintf(&forms[5], "&#%d;", r)
		fmt.Fprintf(&forms[6], "&#x%x;", r)
		fmt.Fprintf(&forms[7], "&#x%X;", r)
	}
	var out []string
	for i := range forms {
		out = append(out, forms[i].String())
	}
	return append(append(out, unicodeEscaped(value)...), quote(out[2], false), quote(out[3], false), quote(out[4], false))
}

// unicodeEscaped returns a value with each character as \u0073, also within JSON.
func unicodeEscaped(value string) []string {
	var b strings.Builder
	for _, r := range value {
		if r < 0x80 {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteString(ascii(string(r), false))
		}
	}
	lower := b.String()
	upper := upperEscapes(lower)
	return []string{lower, upper, quote(lower, false), quote(upper, false)}
}

// squeezedHits returns the occurrences of values with gaps.
func (v *Values) squeezedHits(s string) []hit {
	var places []int
	bare := withoutGaps(s, &places)
	if len(bare) == len(s) {
		return nil
	}
	found := v.wrapped.in(bare)
	for i := range found {
		found[i].from, found[i].to = places[found[i].from], places[found[i].to-1]+1
	}
	return found
}

// openSqueezed is needles.open for values with gaps.
func (v *Values) openSqueezed(s string) int {
	whole := strings.TrimRight(s, `=\`) // a possible start of a gap counts as one
	for from := max(0, len(s)-2*v.wrapped.longest); from < len(whole); from++ {
		begins := v.wrapped.begins[s[from]]
		if len(begins) == 0 || inGap(whole, from) {
			continue
		}
		for _, text := range begins {
			if beginsWith(text, whole[from:]) {
				return from
			}
		}
	}
	return len(s)
}

// beginsWith reports whether a text starts with s, which has gaps, and continues.
func beginsWith(text, s string) bool {
	n := 0
	for i := range len(s) {
		if inGap(s, i) {
			continue
		}
		if n == len(text) || s[i] != text[n] {
			return false
		}
		n++
	}
	return n < len(text)
}
