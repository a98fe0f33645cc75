package golden

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// volatile is the words that stand for what is volatile anywhere.
var volatile = map[string]bool{"uuid": true, "run": true, "duration": true, "memory": true, "interaction": true, "port": true}

// sign is a kind of volatile text. The pattern is tried only where the text may
// begin by may, which costs little.
type sign struct {
	name    string
	may     func(s string) bool
	pattern *regexp.Regexp
	group   int  // that is hidden
	plain   bool // two that are the same are so by chance: they have no number
}

var signs = []sign{
	{
		name: "uuid", may: func(s string) bool { return len(s) >= 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' },
		pattern: regexp.MustCompile(`^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b`),
	},
	{
		name: "run", may: func(s string) bool { return len(s) >= 24 && s[1] == '-' && s[10] == '-' && s[17] == '-' },
		pattern: regexp.MustCompile(`^[re]-\d{8}-\d{6}-[0-9a-f]{6,8}\b`),
	},
	{
		name: "port", group: 1, may: func(s string) bool { return s[0] == '1' || s[0] == 'l' || s[0] == '[' },
		pattern: regexp.MustCompile(`^(?:127\.\d+\.\d+\.\d+|localhost|\[::1\]):(\d{1,5})\b`),
	},
	{
		name: "duration", group: 1, plain: true, may: key("duration_ms", "latency_ms"),
		pattern: regexp.MustCompile(`^"\w+":\s*(-?\d[\d.eE+-]*)`),
	},
	{
		name: "memory", group: 1, may: key("memory_id", "executor_agent_memory_id"),
		pattern: regexp.MustCompile(`^"\w+":\s*"([^"\\]+)"`),
	},
	{
		name: "interaction", group: 1, may: key("parent_interaction_id", "executor_agent_parent_interaction_id"),
		pattern: regexp.MustCompile(`^"\w+":\s*"([^"\\]+)"`),
	},
}

// key says that a text begins with one of the keys of a JSON object.
func key(names ...string) func(string) bool {
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

// scan finds what is volatile anywhere.
func scan(text string) []hit {
	var out []hit
	for i := 0; i < len(text); i++ {
		if !mayBegin[text[i]] || !begins(text, i) {
			continue
		}
		if h, ok := signAt(text, i); ok {
			out = append(out, h)
			i = h.to - 1
		}
	}
	return out
}

// signAt tries every sign at a place.
func signAt(text string, i int) (hit, bool) {
	rest := text[i:]
	for _, s := range signs {
		if !s.may(rest) {
			continue
		}
		if at := s.pattern.FindStringSubmatchIndex(rest); at != nil {
			from, to := i+at[2*s.group], i+at[2*s.group+1]
			return hit{from: from, to: to, name: s.name, value: text[from:to], plain: s.plain, quoted: s.plain}, true
		}
	}
	return hit{}, false
}

// mayBegin is the characters that volatile texts begin with.
var mayBegin = func() (set [256]bool) {
	for _, c := range []byte(`0123456789abcdefABCDEFrl["`) {
		set[c] = true
	}
	return set
}()

// begins says that no word goes on at a place; the letters of JSON's escapes
// are none.
func begins(text string, i int) bool {
	if i == 0 || !isWord(text[i-1]) {
		return true
	}
	return i >= 2 && text[i-2] == '\\' && strings.IndexByte("ntrbf", text[i-1]) >= 0 ||
		i >= 6 && text[i-6] == '\\' && text[i-5] == 'u'
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

// inPlaces finds the folders that words stand for; within another folder's name
// they are none.
func (m *Mask) inPlaces(text string) []hit {
	var found []hit
	for _, p := range m.places {
		var own []hit
		for at := 0; ; {
			i := strings.Index(text[at:], p.Dir)
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(p.Dir)
			if begins(text, from) && endsName(text[to:]) {
				own = append(own, hit{from: from, to: to, name: p.Name, plain: true})
			}
			at = to
		}
		found = merged(found, own)
	}
	return found
}

// endsName says that what follows a file's name is not a part of it.
func endsName(rest string) bool {
	r, size := utf8.DecodeRuneInString(rest)
	if r == '.' || r == '-' {
		r, _ = utf8.DecodeRuneInString(rest[size:])
	}
	return r != '_' && (r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r))
}
