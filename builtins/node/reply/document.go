package reply

import (
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// document is one reading of a text: the objects and lists in it, and whether everything
// around them is prose.
type document struct {
	src   string
	tree  *branches
	limit int
	open  bool

	roots          []value
	fixes          fix
	hasProse       bool   // there are words around the roots
	commaSeparated bool   // only commas separate the roots
	endCode        string // error code if the text is truncated
	work           int
}

// parse reads the text. It returns false if the text has no such reading, or if the
// reading would drop more than prose.
func (d *document) parse() bool {
	d.commaSeparated = true
	prose, pos := 0, 0
	for {
		n := strings.IndexAny(d.src[pos:], "{[")
		if n < 0 {
			break
		}
		pos += n
		if end := placeholderLen(d.src[pos:]); end > 0 {
			pos += end
			continue
		}
		before := d.src[prose:pos]
		v, end, ok := d.root(pos)
		if !ok || !d.isProse(before, len(d.roots) > 0, true) {
			return false
		}
		if len(d.roots) > 0 && strings.Trim(fences().ReplaceAllString(before, ""), " \t\r\n,;") != "" {
			d.commaSeparated = false
		}
		d.roots = append(d.roots, v)
		prose, pos = end, end
		if rest := strings.Trim(d.src[end:], " \t\r\n,;`"); rest != "" && strings.Trim(rest, " \t\r\n,;`]}") == "" {
			d.fixes |= fixBracket
			prose = len(d.src)
			break
		}
	}
	if len(d.roots) == 0 || !d.isProse(d.src[prose:], true, false) {
		return false
	}
	return !d.hasProse || d.fixes&fixBareText == 0 // otherwise it may be prose with brackets
}

// root reads the value at pos, strictly if it is JSON, otherwise with a lenient reader.
func (d *document) root(pos int) (v value, end int, ok bool) {
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(d.src[pos:])).Decode(&raw) == nil {
		r := reader{src: d.src[pos : pos+len(raw)], limit: d.limit}
		if r.value(&v) && r.fixes == 0 {
			d.work += len(raw)
			return v, pos + len(raw), true
		}
	}
	r := reader{src: d.src, pos: pos, limit: d.limit, tree: d.tree, open: d.open}
	ok = r.wideValue(&v, array) && !hasConflictingKeys(&v)
	d.work += r.pos - pos
	if !ok {
		switch r.fault {
		case cut:
			d.endCode = Truncated
		case deep:
			d.endCode = TooDeep
		default:
		}
		return v, pos, false
	}
	d.fixes |= r.fixes
	return v, r.pos, true
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// repeated reports whether an object has the same key twice with different values.
func hasConflictingKeys(v *value) bool {
	seen := map[string]string{}
	for i := range v.items {
		m := &v.items[i]
		if hasConflictingKeys(m) {
			return true
		}
		if v.kind != object {
			continue
		}
		raw := m.json()
		if other, ok := seen[m.key]; ok && other != raw {
			return true
		}
		seen[m.key] = raw
	}
	return false
}

var (
	fences    = text.Regexp("```[A-Za-z0-9]*")
	markup    = text.Regexp(`(?s)/\*.*?\*/|</?[A-Za-z_|][^<>]*>`)
	asideText = text.Regexp("^(\\{[A-Za-z_][A-Za-z0-9_ ]*\\}|\\{\\s*```[A-Za-z]*)")
)

// placeholderLen returns the length of a placeholder or of a fence in braces at the start
// of s, 0 if there is none.
func placeholderLen(s string) int { return len(asideText().FindString(s)) }

// isProse reports whether text around values contains no part of a value and can be
// dropped. after and before report whether a value precedes and follows it.
func (d *document) isProse(s string, after, before bool) bool {
	if strings.TrimSpace(s) == "" {
		return true
	}
	s = strings.TrimSpace(markup().ReplaceAllString(fences().ReplaceAllString(asideText().ReplaceAllString(s, ""), ""), " "))
	if strings.Trim(s, ",; \t\r\n") == "" {
		return true
	}
	d.fixes |= fixSurround
	if !before && strings.HasPrefix(d.src, "{") && strings.HasSuffix(s, "}") { // strips {```json ... ```}
		s = strings.TrimSuffix(s, "}")
	}
	d.hasProse = d.hasProse || strings.ContainsAny(s, letters)
	switch {
	case strings.ContainsAny(s, "{}[]"), strings.Count(s, `"`)%2 == 1:
		return false
	case after && s != "" && strings.ContainsRune(`,:"'`, rune(s[0])):
		return false
	case before && (strings.HasSuffix(s, `"`) || strings.HasSuffix(s, `,`) || quoteColon().MatchString(s)):
		return false
	}
	return !quoteColon().MatchString(s)
}

var quoteColon = text.Regexp(`["']\s*:`)
