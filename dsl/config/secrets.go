package config

import (
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/secret"
)

// FindSecrets reports literals of a tree that look like keys, without showing
// them. Agents embedded in the tree are checked in their own files.
func (u *Unit) FindSecrets(tree *syntax.Node) {
	u.secrets(tree, "", tree.Source != nil && tree.Source.Kind != syntax.Resolved)
}

func (u *Unit) secrets(v *syntax.Node, key string, skipResolved bool) {
	if skipResolved && v.IsResolved() {
		return
	}
	switch v.Kind {
	case syntax.List:
		for _, it := range v.Items {
			u.secrets(it, key, skipResolved)
		}
	case syntax.Map:
		for _, e := range v.Entries {
			switch {
			case e.Key == "tests" || e.Key == "evals":
			case e.Value.Kind == syntax.List && secret.ListsNames(key):
				u.secrets(e.Value, key, skipResolved)
			default:
				u.secrets(e.Value, e.Key, skipResolved)
			}
		}
	case syntax.Text:
		if seen := syntax.FindSecret(v.Text, key); seen.Kind != "" {
			u.Report.HideSecret(seen.Text)
			d := u.Report.Error(diag.Secret, v.PositionAt(seen.At), "%s looks like a hardcoded secret", orValue(key))
			d.Hint = "set it in an environment variable and refer to it in URLs and headers: ${env.NAME}"
			if key == "api_key_env" || key == "api_key" {
				d.Hint = "set it in an environment variable and write the variable's name: api_key_env: OPENAI_API_KEY"
			}
		}
	default: // a number is not a secret
	}
}

func orValue(key string) string {
	if key == "" {
		return "a value"
	}
	return key
}
