package dsl

import (
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/secret"
)

func looksSecret(s string) bool { return secret.Known(s).Looks != "" }

// secrets reports literals that look like keys. Nothing of them is shown. An agent
// that stands in the tree was looked at in its own file.
func (c *compiler) secrets(v *syntax.Node, key string) {
	if v.Source != nil && v.Source.Kind == syntax.Resolved && c.tree.Source != nil && c.tree.Source.Kind != syntax.Resolved {
		return
	}
	switch v.Kind {
	case syntax.List:
		for _, it := range v.Items {
			c.secrets(it, key)
		}
	case syntax.Map:
		for _, e := range v.Entries {
			switch {
			case e.Key == "tests" || e.Key == "evals":
			case e.Value.Kind == syntax.List && secret.ListsNames(key):
				c.secrets(e.Value, key)
			default:
				c.secrets(e.Value, e.Key)
			}
		}
	case syntax.Text:
		if seen := syntax.FindSecret(v.Text, key); seen.Looks != "" {
			c.report.HideSecret(seen.Text)
			d := c.report.Error(diag.Secret, v.PositionAt(seen.At), "%s holds what looks like a secret", orValue(key))
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
