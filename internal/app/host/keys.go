package host

import (
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/envfile"
	"github.com/pexctl/pex/internal/app/fspath"
)

// UnsetKeys reports the LLMs of a run whose API key is in no variable, and a memory without an address, before any request is sent. vet does not use
// it, since its result must not depend on the machine.
func UnsetKeys() dsl.Analyzer {
	return dsl.Analyzer{Name: "unset_keys", Codes: []diag.Code{diag.UnsetKey}, Run: func(p *dsl.Pass) {
		reported := map[dsl.Place]bool{}
		for i := range p.Program.Models {
			m := &p.Program.Models[i]
			names := RequiredKey(m)
			isSet := func(name string) bool { return os.Getenv(name) != "" }
			if !p.Uses["llms."+m.Name] || len(names) == 0 || slices.ContainsFunc(names, isSet) {
				continue
			}
			entry, path := writtenAt(p, m.Name)
			at := entry.Get("api_key_env")
			if !at.Exists() {
				at = entry.Get("provider")
			}
			if at.Exists() && !reported[at.Place()] {
				reported[at.Place()] = true
				reportUnset(p, m, at.Place(), path, names)
			}
		}
		reportUnsetAddress(p)
	}}
}

// reportUnsetAddress reports a database of conversations whose address is in no variable.
func reportUnsetAddress(p *dsl.Pass) {
	name := p.Program.Memory.AddressEnv
	if p.Program.Memory.Backend != "postgres" || os.Getenv(name) != "" {
		return
	}
	hint := "export " + name + "=postgres://user:password@host:5432/name"
	if unread := envfile.Unread(p.Spec.Dir, "."); unread != "" {
		hint += ", or pass --env-file " + fspath.Quote(fspath.Relative(unread)) + " (it is not read by default)"
	}
	at := p.Spec.Tree().Get("memory").Get("dsn_env")
	p.Error(diag.UnsetKey, at.Place(), "the environment variable %s is not set: memory.dsn_env has no address of a database", name).Hint = hint
}

func reportUnset(p *dsl.Pass, m *engine.ModelSpec, at dsl.Place, path string, names []string) {
	d := p.Error(diag.UnsetKey, at, "the environment variable %s is not set: %s has no API key", strings.Join(names, " or "), path)
	d.Hint = UnsetHint(m, path, names, envfile.Unread(p.Spec.Dir, "."))
}

// UnsetHint describes how to set the key of an LLM. names are the variables that may have it, path is the LLM's path
// in the spec, and unread is a .env file that was not read, or "".
func UnsetHint(m *engine.ModelSpec, path string, names []string, unread string) string {
	hint := "export " + names[0] + "=..., "
	if unread != "" {
		hint += "pass --env-file " + fspath.Quote(fspath.Relative(unread)) + " (it is not read by default), "
	}
	hint += "or name another variable in " + path + ".api_key_env"
	if m.APIKeyEnv != "" && m.BaseURL.Text != "" {
		hint += "; remove api_key_env if the server at base_url needs no key"
	}
	return hint
}

// RequiredKey returns the variables of which one must have the key of an LLM. It returns none if no key is needed:
// the spec names no variable, and the server is not the provider's own or takes other credentials.
func RequiredKey(m *engine.ModelSpec) []string {
	if m.Offline() {
		return nil
	}
	if m.APIKeyEnv != "" {
		return []string{m.APIKeyEnv}
	}
	if known := m.KeyVariables(); known.Required && m.BaseURL.Text == "" {
		return known.Names
	}
	return nil
}

// writtenAt returns where a spec defines an LLM: its entry under llms, or the keys of a role.
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

// Only returns the diagnostics of one code.
func Only(found diag.List, code diag.Code) diag.List {
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool { return d.Code != code })
}

// MissingKeys reports the LLMs of a resumed or forked run whose API key is in no variable. Positions are those in the
// spec if its file still has the same program, else in the program in the journal. set has the overrides added since.
func MissingKeys(components *catalog.Catalog, p *engine.Program, kept json.RawMessage, origin *engine.Origin, set ...string) diag.List {
	if origin.Spec != "" {
		o := currentOptions(components, origin)
		if now, _, _ := dsl.Compile(origin.Spec, o); now != nil && now.Digest == p.Digest {
			o.Analyzers = []dsl.Analyzer{UnsetKeys()}
			_, _, found := dsl.Compile(fspath.Shown(origin.Spec), o)
			return Only(found, diag.UnsetKey)
		}
	}
	o := RecompileOptions(components, origin, set...)
	o.Analyzers = []dsl.Analyzer{UnsetKeys()}
	_, found := dsl.Recompile(kept, origin.Dir, o)
	return Only(found, diag.UnsetKey)
}
