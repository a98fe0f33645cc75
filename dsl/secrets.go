package dsl

import (
	"regexp"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/secret"
)

func looksSecret(s string) bool { return secret.Known(s).Looks != "" }

// secrets reports literals that look like keys. Nothing of them is shown. An agent
// that stands in the tree was looked at in its own file.
func (c *compiler) secrets(v *value, key string) {
	if v.src != nil && v.src.kind == resolved && c.tree.src != nil && c.tree.src.kind != resolved {
		return
	}
	switch v.kind {
	case list:
		for _, it := range v.items {
			c.secrets(it, key)
		}
	case dict:
		for _, e := range v.entries {
			switch {
			case e.key == "tests" || e.key == "evals":
			case e.val.kind == list && secret.ListsNames(key):
				c.secrets(e.val, key)
			default:
				c.secrets(e.val, e.key)
			}
		}
	case text:
		if seen := inLiteral(v.text, key); seen.Looks != "" {
			c.report.found(seen.Text)
			d := c.report.error(diag.Secret, v.within(seen.At), "%s holds what looks like a secret", orValue(key))
			d.Hint = "keep it in an environment variable: ${env.NAME} in urls and headers"
			if key == "api_key_env" || key == "api_key" {
				d.Hint = "keep it in an environment variable and write its name: api_key_env: OPENAI_API_KEY"
			}
		}
	default: // a number is no secret
	}
}

// password is the one that an address has before its host.
var password = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://[^/\s:@]*:([^/\s@${}<>]+)@`)

// inLiteral looks for a key in a text, and for a password in an address.
func inLiteral(s, key string) secret.Sighting {
	seen := secret.InLiteral(s, key)
	if m := password.FindStringSubmatchIndex(s); seen.Looks == "" && m != nil && strings.HasSuffix(key, "url") {
		return secret.Sighting{At: m[2], Text: s[m[2]:m[3]], Looks: "a password"}
	}
	return seen
}

func orValue(key string) string {
	if key == "" {
		return "a value"
	}
	return key
}
