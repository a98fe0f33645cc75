package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
)

// unsetKeys reports the llms of a run whose API key is in no variable, before
// any request is sent without it. vet does not run it: what vet says of a spec
// does not depend on the machine.
func unsetKeys() dsl.Analyzer {
	return dsl.Analyzer{Name: "unset_keys", Codes: []diag.Code{diag.UnsetKey}, Run: func(p *dsl.Pass) {
		told := map[dsl.Place]bool{}
		for i := range p.Program.Models {
			m := &p.Program.Models[i]
			names := requiredKey(m)
			isSet := func(name string) bool { return environment(name) != "" }
			if !p.Uses["llms."+m.Name] || len(names) == 0 || slices.ContainsFunc(names, isSet) {
				continue
			}
			entry, path := writtenAt(p, m.Name)
			at := entry.Get("api_key_env")
			if !at.Exists() {
				at = entry.Get("provider")
			}
			if at.Exists() && !told[at.Place()] {
				told[at.Place()] = true
				reportUnset(p, m, at.Place(), path, names)
			}
		}
	}}
}

func reportUnset(p *dsl.Pass, m *engine.ModelSpec, at dsl.Place, path string, names []string) {
	d := p.Error(diag.UnsetKey, at, "the environment variable %s is not set: %s has no API key", strings.Join(names, " or "), path)
	d.Hint = "export " + names[0] + "=..., or name another variable in " + path + ".api_key_env"
	if m.APIKeyEnv != "" && m.BaseURL.Text != "" {
		d.Hint += "; remove api_key_env if the server at base_url needs no key"
	}
}

// requiredKey lists the variables of which one must hold the key of an llm; none
// = it works without: the author names no variable, and its server is not the
// provider's own or takes other credentials.
func requiredKey(m *engine.ModelSpec) []string {
	if slices.Contains(alone, m.Provider) {
		return nil
	}
	if m.APIKeyEnv != "" {
		return []string{m.APIKeyEnv}
	}
	if m.BaseURL.Text != "" || !slices.Contains([]string{"openai", "anthropic", "googleai", "mistral"}, m.Provider) {
		return nil
	}
	return keyEnv(m)
}

// writtenAt is where a spec has an llm: its entry under llms, or the keys of the
// role that the llm is made of.
func writtenAt(p *dsl.Pass, name string) (dsl.Value, string) {
	tree := p.Spec.Tree()
	base, role, derived := strings.Cut(name, "+")
	if derived {
		if at := tree.Get(strings.Split(role, ".")...); at.Get("api_key_env").Exists() || at.Get("provider").Exists() {
			return at, role
		}
	}
	if entry := tree.Get("llms", base); entry.Exists() {
		return entry, "llms." + base
	}
	return tree.Get(strings.Split(base, ".")...), base
}

// liveModels says that a run sends requests to models.
func liveModels(c *cli.Context) bool {
	switch c.String("replay") {
	case "llm", "all":
		return c.String("on-drift") == driftLive
	}
	return true
}
