package secret

import (
	"math"
	"regexp"
	"strings"
	"unicode"

	"github.com/pexctl/pex/engine/text"
)

var (
	authValue = text.Regexp(`(?i)^(?:bearer|basic|token)\s+([A-Za-z0-9+/=._~-]{12,})$`)
	keyName   = text.Regexp(`(?i)(^|[_-])(api_?key|apikey|key|token|password|passwd|secret|authorization|credential)s?$`)
	sureName  = text.Regexp(`(?i)^(proxy-)?authorization$|(^|[_-])(api[_-]?key|secret[_-]access[_-]key|(client|api)[_-]?secret|access[_-]?token|auth[_-]?token|password|passwd)$`)
)

// InLiteral looks for a key in a text that an author wrote under a name. If the name
// suggests a key, any text that looks generated counts.
func InLiteral(s, name string) Sighting {
	if seen := FindWellKnown(s); seen.Kind != "" {
		return seen
	}
	if m := authValue().FindStringSubmatchIndex(s); m != nil && strings.ContainsFunc(s[m[2]:m[3]], unicode.IsDigit) {
		return Sighting{m[2], s[m[2]:m[3]], looksAuth}
	}
	if keyName().MatchString(name) && !strings.HasSuffix(name, "_env") && !strings.ContainsAny(s, " ${}<>/\n") && looksGenerated(s) {
		return Sighting{0, s, looksKey}
	}
	return Sighting{}
}

const (
	looksAuth = "credentials of a request"
	looksKey  = "a generated key"
)

// InRecord looks for a key in a text that a run recorded under a name ("" = none). A
// finding rejects the whole recording, so only certain keys count: tool output is full of
// page tokens and ids.
func InRecord(s, name string) Sighting {
	if seen := FindWellKnown(s); seen.Kind != "" {
		return seen
	}
	if name != "" && sureName().MatchString(name) {
		bare := s
		if m := authValue().FindStringSubmatch(s); m != nil {
			bare = m[1]
		}
		if !strings.ContainsAny(bare, " ${}<>\n") && looksGenerated(bare) {
			return Sighting{len(s) - len(bare), bare, looksAuth}
		}
	}
	return inSentence(s)
}

// assignments are patterns of keys in free text: in a header, a shell line, a settings
// file. Texts are in lower case here.
var assignments = []struct {
	mark string
	key  func() *regexp.Regexp
}{
	{"bearer", text.Regexp(`^bearer\s+([a-z0-9+/=._~-]{20,})`)},
	{"authorization", text.Regexp(`^authorization[\\"']*\s*[:=]\s*[\\"']*(?:basic|token)\s+([a-z0-9+/=._~-]{12,})`)},
	{"api", text.Regexp(`^api[_-]?key[\\"']*\s*[:=]\s*[\\"']*([a-z0-9+/=._~-]{20,})`)},
	{"secret", text.Regexp(`^secret_access_key[\\"']*\s*[:=]\s*[\\"']*([a-z0-9+/=]{40})`)},
}

func inSentence(s string) Sighting {
	lower := strings.ToLower(s)
	for i := range assignments {
		a := &assignments[i]
		for from := 0; ; {
			k := strings.Index(lower[from:], a.mark)
			if k < 0 {
				break
			}
			from += k
			m := a.key().FindStringSubmatchIndex(lower[from:min(len(lower), from+window)])
			if m != nil && mixesLettersAndDigits(lower[from+m[2]:from+m[3]]) {
				return Sighting{from + m[2], lower[from+m[2] : from+m[3]], looksAuth}
			}
			from += len(a.mark)
		}
	}
	return Sighting{}
}

// mixesLettersAndDigits reports whether a text mixes digits and letters like a generated
// one.
func mixesLettersAndDigits(s string) bool {
	const bits = 3.0
	return strings.ContainsFunc(s, unicode.IsDigit) && strings.ContainsFunc(s, unicode.IsLetter) && entropy(s) >= bits
}

// looksGenerated reports whether a text is long and random enough to be a generated key.
func looksGenerated(s string) bool {
	const shortest, bits = 20, 3.5
	return len(s) >= shortest && strings.ContainsFunc(s, unicode.IsDigit) && entropy(s) >= bits
}

// entropy returns the entropy of a text in bits per character.
func entropy(s string) float64 {
	counts, total := map[rune]float64{}, 0.0
	for _, r := range s {
		counts[r]++
		total++
	}
	sum := 0.0
	for _, n := range counts {
		sum -= n / total * math.Log2(n/total)
	}
	return sum
}
