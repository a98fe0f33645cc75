package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
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
			isSet := func(name string) bool { return os.Getenv(name) != "" }
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
	d.Hint = unsetHint(m, path, names)
}

func unsetHint(m *engine.ModelSpec, path string, names []string) string {
	hint := "export " + names[0] + "=..., or name another variable in " + path + ".api_key_env"
	if m.APIKeyEnv != "" && m.BaseURL.Text != "" {
		hint += "; remove api_key_env if the server at base_url needs no key"
	}
	return hint
}

// requiredKey lists the variables of which one must hold the key of an llm; none
// = it works without: the author names no variable, and its server is not the
// provider's own or takes other credentials.
func requiredKey(m *engine.ModelSpec) []string {
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

// keysOf reports the llms of a run that goes on whose API key is in no variable: at
// their place in the spec, where its file still holds the program, else in the
// program as the journal keeps it. set is what was overridden since.
func keysOf(c *ui.Call, p *engine.Program, kept json.RawMessage, origin *engine.Origin, set ...string) error {
	found := diag.List(nil)
	if origin.Spec != "" {
		o := host.RecompileOptions(c.Catalog, origin, origin.Set...)
		o.Environ, o.Prices = origin.Environ, dsl.RecordedPrices(origin.Prices, dsl.KnownPrices())
		if now, _, _ := dsl.Compile(origin.Spec, o); now != nil && now.Digest == p.Digest {
			o.Analyzers = []dsl.Analyzer{unsetKeys()}
			_, _, found = dsl.Compile(fspath.Shown(origin.Spec), o)
			return ui.ShowDiagnostics(c, only(found, diag.UnsetKey))
		}
	}
	o := host.RecompileOptions(c.Catalog, origin, set...)
	o.Analyzers = []dsl.Analyzer{unsetKeys()}
	_, found = dsl.Recompile(kept, origin.Dir, o)
	return ui.ShowDiagnostics(c, only(found, diag.UnsetKey))
}

func only(found diag.List, code diag.Code) diag.List {
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool { return d.Code != code })
}

// keys reports the llms of the variants and of the graders whose API key is in no
// variable.
func (s *suite) keys(c *ui.Call) error {
	o := specOptions(c)
	o.Environ, o.Analyzers = nil, []dsl.Analyzer{unsetKeys()}
	var found diag.List
	for _, v := range s.Variants {
		if !slices.ContainsFunc(s.variants, func(chosen batch.Variant) bool { return chosen.Name == v.Name }) {
			continue
		}
		o.Set = v.Set
		_, _, all := dsl.Compile(fspath.Shown(v.Spec), o)
		found = append(found, only(all, diag.UnsetKey)...)
	}
	return ui.ShowDiagnostics(c, append(found, s.graderKeys()...).Sort())
}

// graderKeys is keys of the models that grade.
func (s *suite) graderKeys() (found diag.List) {
	report := func(role string, m *engine.ModelSpec, at dsl.Position) {
		names := requiredKey(m)
		if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return os.Getenv(name) != "" }) {
			return
		}
		found = append(found, diag.Diagnostic{
			File: at.File, Line: at.Line, Column: at.Column, Code: diag.UnsetKey, Severity: diag.Error,
			Message: fmt.Sprintf("the environment variable %s is not set: the llm of %s has no API key", strings.Join(names, " or "), role),
			Advice:  diag.Advice{Hint: unsetHint(m, m.Path, names)},
		})
	}
	if s.Judge != nil {
		report("judge", &s.Judge.Model, s.Judge.KeyAt)
	}
	if s.Embed != nil {
		report("embed", s.Embed, s.EmbedKeyAt)
	}
	return found
}

// liveModels says that a run sends requests to models.
func liveModels(c *ui.Call) bool {
	switch c.String("replay") {
	case "llm", "all":
		return c.String("on-drift") == runs.DriftLive
	}
	return true
}
