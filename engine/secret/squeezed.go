package secret

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Classes of bytes for squeezed: those that stay, those that programs put between
// the characters of what they write (they wrap base64 at 76 columns, fold lines,
// and space hex digits), and those that begin a longer gap.
const (
	stays = iota
	isGap
	mayBeGap
)

var class = [256]uint8{' ': isGap, '\t': isGap, '\n': isGap, '\r': isGap, '\\': mayBeGap, '=': mayBeGap}

// squeezed returns a text without gaps; in JSON that is not decoded they are also
// \n, \r and \t, and a soft line break of quoted-printable begins with =.
// places, where not nil, receives the index of each byte that is left, and of the
// end.
func squeezed(s string, places *[]int) string {
	return string(squeeze(make([]byte, len(s)), s, places))
}

// buffers are for texts without gaps, which are long, and thrown away at once.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// squeeze is squeezed into a buffer at least as long as the text.
func squeeze(out []byte, s string, places *[]int) []byte {
	n := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		k := class[c]
		if k == mayBeGap {
			if length := gapAt(s[i:]); length > 0 {
				i += length - 1
				continue
			}
		}
		if places != nil && k != isGap {
			*places = append(*places, i)
		}
		out[n] = c
		n += 1 - int(k&isGap) // no branch: one in six bytes of prose is a gap
	}
	if places != nil {
		*places = append(*places, len(s))
	}
	return out[:n]
}

// gapAt is the length of the gap that begins with a backslash or an equals sign.
func gapAt(s string) int {
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

// wrapped returns the forms of a value that are looked for in a squeezed text.
func wrapped(value string) []string {
	out := []string{squeezed(value, nil)}
	digits := hex.EncodeToString([]byte(value))
	out = append(out, digits, strings.ToUpper(digits))
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for shift := range 3 {
			out = append(out, within(encoding, value, shift))
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
	return append(append(out, unicoded(value)...), quote(out[2], false), quote(out[3], false), quote(out[4], false))
}

// unicoded is a value with each character as \u0073, also within JSON.
func unicoded(value string) []string {
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

// squeezedHits are the values in a text whose characters are apart.
func (v *Values) squeezedHits(s string) []hit {
	if v.wrapped.all == nil || len(s) < v.wrapped.window {
		return nil
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	if len(*buffer) < len(s) {
		*buffer = make([]byte, len(s))
	}
	bare := squeeze(*buffer, s, nil)
	if len(bare) == len(s) || len(find(&v.wrapped, bare)) == 0 {
		return nil
	}
	var places []int
	found := v.wrapped.in(squeezed(s, &places))
	for i := range found {
		found[i].from, found[i].to = places[found[i].from], places[found[i].to-1]+1
	}
	return found
}

// openSqueezed is needles.open for values whose characters are apart.
func (v *Values) openSqueezed(s string) int {
	if v.wrapped.all == nil {
		return len(s)
	}
	from := max(0, len(s)-2*v.wrapped.longest)
	places := make([]int, 0, len(s)-from+1)
	bare := squeezed(strings.TrimRight(s[from:], `=\`), &places) // what may begin a gap is one
	if open := v.wrapped.open(bare); open < len(bare) {
		return from + places[open]
	}
	return len(s)
}
