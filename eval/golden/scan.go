package golden

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/text"
)

// volatileNames lists the placeholder names of the default patterns.
var volatileNames = map[string]bool{"uuid": true, "run": true, "duration": true, "memory": true, "interaction": true, "port": true}

// volatilePattern is a pattern of volatile text. may is a cheap test of the text's start that avoids most matches of the
// regular expression.
type volatilePattern struct {
	name       string
	mayMatch   func(s string) bool
	pattern    func() *regexp.Regexp
	group      int  // the group to hide
	unnumbered bool // the placeholder has no number, because equal values are a coincidence
}

var volatilePatterns = []volatilePattern{
	{
		name: "uuid", mayMatch: func(s string) bool { return len(s) >= 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' },
		pattern: text.Regexp(`^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b`),
	},
	{
		name: "run", mayMatch: func(s string) bool { return len(s) >= 24 && s[1] == '-' && s[10] == '-' && s[17] == '-' },
		pattern: text.Regexp(`^[re]-\d{8}-\d{6}-[0-9a-f]{6,8}\b`),
	},
	{
		name: "port", group: 1, mayMatch: func(s string) bool { return s[0] == '1' || s[0] == 'l' || s[0] == '[' },
		pattern: text.Regexp(`^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\]):(\d{1,5})\b`),
	},
	{
		name: "duration", group: 1, unnumbered: true, mayMatch: startsWithKey("duration_ms", "latency_ms"),
		pattern: text.Regexp(`^"\w+":\s*(-?\d[\d.eE+-]*)`),
	},
	{
		name: "memory", group: 1, mayMatch: startsWithKey("memory_id", "executor_agent_memory_id"),
		pattern: text.Regexp(`^"\w+":\s*"([^"\\]+)"`),
	},
	{
		name: "interaction", group: 1, mayMatch: startsWithKey("parent_interaction_id", "executor_agent_parent_interaction_id"),
		pattern: text.Regexp(`^"\w+":\s*"([^"\\]+)"`),
	},
}

// startsWithKey returns a function that reports whether a text starts with one of the keys of a JSON object.
func startsWithKey(names ...string) func(string) bool {
	return func(s string) bool {
		if s[0] != '"' {
			return false
		}
		for _, n := range names {
			if len(s) > len(n)+1 && s[len(n)+1] == '"' && s[1:len(n)+1] == n {
				return true
			}
		}
		return false
	}
}

// scan returns the hits of the default patterns.
func scan(text string) []hit {
	var out []hit
	for i := 0; i < len(text); i++ {
		if !mayBegin[text[i]] || !atWordStart(text, i) {
			continue
		}
		if h, ok := matchAt(text, i); ok {
			out = append(out, h)
			i = h.to - 1
		}
	}
	return out
}

// matchAt tries every pattern at offset i.
func matchAt(text string, i int) (hit, bool) {
	rest := text[i:]
	for _, s := range volatilePatterns {
		if !s.mayMatch(rest) {
			continue
		}
		if at := s.pattern().FindStringSubmatchIndex(rest); at != nil {
			from, to := i+at[2*s.group], i+at[2*s.group+1]
			return hit{from: from, to: to, name: s.name, value: text[from:to], unnumbered: s.unnumbered, quoted: s.unnumbered}, true
		}
	}
	return hit{}, false
}

// mayBegin is the set of bytes with which volatile texts start.
var mayBegin = func() (set [256]bool) {
	for _, c := range []byte(`0123456789abcdefABCDEFrl["`) {
		set[c] = true
	}
	return set
}()

// atWordStart reports whether a word can start at offset i. The letters of JSON escapes such as
//
//	do not count as part of a word.
func atWordStart(text string, i int) bool {
	if i == 0 || !isWord(text[i-1]) {
		return true
	}
	return i >= 2 && text[i-2] == '\\' && strings.IndexByte("ntrbf", text[i-1]) >= 0 ||
		i >= 6 && text[i-6] == '\\' && text[i-5] == 'u'
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

// folderHits returns the occurrences of the mask's folders. A path that only continues another name does not
// match.
func (m *Mask) folderHits(text string) []hit {
	var found []hit
	for _, p := range m.folders {
		var own []hit
		for at := 0; ; {
			i := strings.Index(text[at:], p.Dir)
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(p.Dir)
			if atWordStart(text, from) && endsName(text[to:]) {
				own = append(own, hit{from: from, to: to, name: p.Name, unnumbered: true})
			}
			at = to
		}
		found = merge(found, own)
	}
	return found
}

// endsName reports whether a file name ends before rest.
func endsName(rest string) bool {
	r, size := utf8.DecodeRuneInString(rest)
	if r == '.' || r == '-' {
		r, _ = utf8.DecodeRuneInString(rest[size:])
	}
	return r != '_' && (r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r))
}
