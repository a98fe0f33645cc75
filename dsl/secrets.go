package dsl

import (
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
			if e.key != "tests" && e.key != "evals" {
				c.secrets(e.val, e.key)
			}
		}
	case text:
		if seen := secret.InLiteral(v.text, key); seen.Looks != "" {
			d := c.report.error(diag.Secret, v.within(seen.At), "%s holds what looks like a secret", orValue(key))
			d.Snippet = strings.ReplaceAll(d.Snippet, seen.Text, strings.Repeat("*", min(len(seen.Text), 12)))
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
