package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// encodings returns a value in the encodings that programs use.
func encodings(value string) []string {
	out := []string{value}
	for _, quoted := range []string{quote(value, false), quote(value, true), ascii(value, false), ascii(value, true)} {
		for _, form := range []string{quoted, upperEscapes(quoted)} {
			out = append(out, form, quote(form, false), quote(form, true), strings.ReplaceAll(form, "/", `\/`))
		}
	}
	for _, quoted := range []string{strconv.Quote(value), strconv.QuoteToASCII(value)} {
		out = append(out, quoted[1:len(quoted)-1])
	}
	out = append(out, strings.ToLower(value)) // as a host name
	out = append(out, htmlForms(value)...)
	out = append(out, escaped(value)...)
	query := url.QueryEscape(value)
	user, path := url.User(value).String(), (&url.URL{Path: value}).EscapedPath()
	for _, escaped := range []string{query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(value), component(query), user, path} {
		out = append(out, escaped, lowerEscapes(escaped))
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		whole := encoding.EncodeToString([]byte(value))
		out = append(out, whole, strings.TrimRight(whole, "="))
		for shift := range 3 {
			out = append(out, base64Within(encoding, value, shift))
		}
	}
	digits := hex.EncodeToString([]byte(value))
	out = append(out, digits, strings.ToUpper(digits))
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(form string) bool { return len(form) < Shortest })
}

// quote returns s as the content of a JSON string.
func quote(s string, inHTML bool) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(inHTML)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// ascii returns s as the content of an ASCII-only JSON string.
func ascii(s string, inHTML bool) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, r := range quote(s, inHTML) {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			b.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte(digits[u>>shift&15])
			}
		}
	}
	return b.String()
}

// upperEscapes writes \u00e9 as \u00E9.
func upperEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+5 < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		if b[i+1] == 'u' {
			copy(b[i+2:i+6], strings.ToUpper(s[i+2:i+6]))
		}
		i++ // an escaped backslash starts no escape
	}
	return string(b)
}

// htmlForms returns a value in the forms of HTML and XML encoders, which differ in
// quotes.
func htmlForms(value string) []string {
	text := html.EscapeString(value)
	return []string{
		text,
		strings.NewReplacer("&#34;", "&quot;", "&#39;", "&apos;").Replace(text),
		strings.NewReplacer("&#34;", "&quot;", "&#39;", "&#x27;").Replace(text),
		strings.NewReplacer("&#34;", `"`, "&#39;", "'").Replace(text),
	}
}

// component returns how browsers escape a query: they leave more characters unescaped.
func component(query string) string {
	return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query)
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(s[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}

// base64Within returns the base64 digits of a value that are independent of its
// surroundings, at an offset of shift modulo 3.
func base64Within(encoding *base64.Encoding, value string, shift int) string {
	all := encoding.EncodeToString(append(make([]byte, shift), value...))
	first := (shift*8 + 5) / 6
	return all[first : (shift+len(value))*8/6]
}
