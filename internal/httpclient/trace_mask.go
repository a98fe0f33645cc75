package httpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/text"
)

// masks are the secrets to redact in a trace, by value and by the names of headers, form fields and JSON members.
type masks []*secret.Values

const masked = "[redacted]"

// text replaces secrets in a text.
func (m masks) text(s string) string {
	for _, v := range m {
		s, _ = v.Text(s)
	}
	return s
}

// begin removes a possible partial secret at the end of a truncated text.
func (m masks) begin(text []byte) []byte {
	for _, v := range m {
		text = []byte(v.Stream().Next(string(text)))
	}
	return text
}

// headers formats a header as lines.
func (m masks) headers(h http.Header) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			if SecretName(name) {
				value = hideHeader(value)
			}
			lines = append(lines, name+": "+m.text(value))
		}
	}
	return lines
}

// hideHeader redacts the value of a secret header, except for an authentication scheme such as Bearer.
func hideHeader(value string) string {
	if scheme, _, ok := strings.Cut(value, " "); ok && slices.Contains([]string{"bearer", "basic", "digest"}, strings.ToLower(scheme)) {
		return scheme + " " + masked
	}
	return masked
}

// secretMembers matches JSON members, and secretFields lists form fields, with secrets unknown to clients beforehand:
// those exchanged by signing in.
var (
	secretMembers = text.Regexp(`(?i)("(?:access_token|refresh_token|id_token|device_code|code_verifier|client_secret|client_assertion|api_?key|password|secret|token|authorization|private_key)"\s*:\s*)"(?:[^"\\]|\\.)*"?`)
	secretFields  = []string{"code", "assertion", "device_code", "user_code", "state"}
)

// body replaces secrets in a body, which may be JSON.
func (m masks) body(b []byte) string {
	for _, v := range m {
		b, _ = v.JSON(b)
	}
	return secretMembers().ReplaceAllString(string(b), `$1"`+masked+`"`)
}

// form replaces secrets in a form or a query.
func (m masks) form(text string) string {
	fields := strings.Split(text, "&")
	for i, field := range fields {
		name, value, ok := strings.Cut(field, "=")
		plain, err := url.QueryUnescape(name)
		if ok && value != "" && (err != nil || SecretName(plain) || slices.Contains(secretFields, plain)) {
			fields[i] = name + "=" + masked
		}
	}
	return m.text(strings.Join(fields, "&"))
}

// stream redacts an event stream, including secrets split across events. It drops blank lines.
func (m masks) stream(text string) string {
	lines := strings.Split(text, "\n")
	for _, v := range m {
		for _, each := range piecesOf(lines) {
			each.mask(v, lines)
		}
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	for i, line := range lines {
		if data, ok := dataOf(line); ok {
			lines[i] = "data: " + m.body(data)
		}
	}
	return m.text(strings.Join(lines, "\n"))
}

func dataOf(line string) (data []byte, ok bool) {
	text, ok := strings.CutPrefix(line, "data:")
	return bytes.TrimSpace([]byte(text)), ok
}

// pieces are the texts at the same JSON path in the events of a stream, which form one text.
type pieces struct {
	path  string
	lines []int // of the events
	texts []string
}

// piecesOf collects the texts of a stream by path.
func piecesOf(lines []string) (all []*pieces) {
	at := map[string]*pieces{}
	for i, line := range lines {
		data, ok := dataOf(line)
		if !ok {
			continue
		}
		walkTexts(decoded(data), "", func(path, text string) string {
			p := at[path]
			if p == nil {
				p = &pieces{path: path}
				at[path], all = p, append(all, p)
			}
			p.lines, p.texts = append(p.lines, i), append(p.texts, text)
			return text
		})
	}
	return all
}

// mask redacts the values that the pieces contain together.
func (p *pieces) mask(v *secret.Values, lines []string) {
	clean, found := v.Segments(p.texts)
	if !found {
		return
	}
	for k, i := range p.lines {
		if clean[k] == p.texts[k] {
			continue
		}
		data, _ := dataOf(lines[i])
		tree := walkTexts(decoded(data), "", func(path, text string) string {
			if path == p.path && text == p.texts[k] {
				return clean[k]
			}
			return text
		})
		if b, err := json.Marshal(tree); err == nil {
			lines[i] = "data: " + string(b)
		}
	}
}

func decoded(data []byte) (tree any) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&tree) != nil {
		return nil
	}
	return tree
}

// walkTexts replaces each string in a tree by the result of see.
func walkTexts(x any, path string, see func(path, text string) string) any {
	switch x := x.(type) {
	case string:
		return see(path, x)
	case []any:
		for i := range x {
			x[i] = walkTexts(x[i], fmt.Sprintf("%s[%d]", path, i), see)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(x)) {
			x[name] = walkTexts(x[name], path+"."+name, see)
		}
	}
	return x
}
