package dsl

import (
	"math"
	"regexp"
	"strings"
	"unicode"

	"github.com/pexctl/pex/dsl/diag"
)

// secretForm is what keys of well-known services look like, from their begin.
var secretForm = regexp.MustCompile(`^(sk-[A-Za-z0-9_-]{16,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|` +
	`glpat-[A-Za-z0-9_-]{20,}|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{35}|hf_[A-Za-z0-9]{30,}|` +
	`eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+|-----BEGIN [A-Z ]*PRIVATE KEY-----)`)

// secretMarks are what such keys begin with.
var secretMarks = []string{"sk-", "AKIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "AIza", "hf_", "eyJ", "-----BEGIN"}

var (
	authValue  = regexp.MustCompile(`(?i)^(bearer|basic|token)\s+([A-Za-z0-9+/=._~-]{12,})$`)
	secretKeys = regexp.MustCompile(`(?i)(^|[_-])(api_?key|apikey|key|token|password|passwd|secret|authorization|credential)s?$`)
)

func looksSecret(s string) bool {
	_, found := knownSecret(s)
	return found != ""
}

// knownSecret looks for a key of a known form. It looks only where one can
// begin, so that long prompts cost little.
func knownSecret(s string) (at int, found string) {
	const longest = 4096
	for _, mark := range secretMarks {
		for from := 0; ; {
			i := strings.Index(s[from:], mark)
			if i < 0 {
				break
			}
			i += from
			if i == 0 || !wordByte(s[i-1]) {
				if m := secretForm.FindString(s[i:min(len(s), i+longest)]); m != "" {
					return i, m
				}
			}
			from = i + len(mark)
		}
	}
	return 0, ""
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// secrets reports literals that look like keys. Nothing of them is shown.
func (c *compiler) secrets(v *value, key string) {
	switch v.kind {
	case list:
		for _, it := range v.items {
			c.secrets(it, key)
		}
	case dict:
		for _, e := range v.entries {
			if e.key != "tests" && e.key != "evals" {
				c.secrets(e.val, e.key)
			}
		}
	case text:
		if at, found := secretIn(v.text, key); found != "" {
			d := c.report.error(diag.Secret, v.within(at), "%s holds what looks like a secret", orValue(key))
			d.Snippet = strings.ReplaceAll(d.Snippet, found, strings.Repeat("*", min(len(found), 12)))
			d.Hint = "keep it in an environment variable: ${env.NAME} in urls and headers"
			if key == "api_key_env" || key == "api_key" {
				d.Hint = "keep it in an environment variable and write its name: api_key_env: OPENAI_API_KEY"
			}
		}
	default: // a number is no secret
	}
}

func orValue(key string) string {
	if key == "" {
		return "a value"
	}
	return key
}

// secretIn finds a secret in a text under a key: where it begins, and all of it.
func secretIn(s, key string) (at int, found string) {
	if at, found := knownSecret(s); found != "" {
		return at, found
	}
	if m := authValue.FindStringSubmatchIndex(s); m != nil && strings.ContainsFunc(s[m[4]:m[5]], unicode.IsDigit) {
		return m[4], s[m[4]:m[5]]
	}
	if secretKeys.MatchString(key) && !strings.HasSuffix(key, "_env") && random(s) {
		return 0, s
	}
	return 0, ""
}

// random says whether a text is long and even enough to be a generated key.
func random(s string) bool {
	const shortest, bits = 20, 3.5
	if len(s) < shortest || strings.ContainsAny(s, " ${}<>/\n") || !strings.ContainsFunc(s, unicode.IsDigit) {
		return false
	}
	counts := map[rune]float64{}
	for _, r := range s {
		counts[r]++
	}
	entropy := 0.0
	for _, n := range counts {
		p := n / float64(len(s))
		entropy -= p * math.Log2(p)
	}
	return entropy >= bits
}
